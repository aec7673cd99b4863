// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <cairn/base/contract.hpp>

namespace cairn::activity {

/// Up to 64 messages that are wanted. For loops in which that is unpredictable: add() has no branch
/// on it. The address of a store depends on the message before; as long as the loop keeps `held` in
/// a register that is faster than storing all messages and a bit for each (docs/traverse.md).
///
/// Thread-safety: one thread
template <class Message>
class sieve {
 public:
  static constexpr std::size_t capacity = 64;

  /// Adds m if it is wanted. Returns how many messages the sieve then holds.
  ///
  /// held      how many it holds; less than `capacity`. A loop keeps it in a register
  [[gnu::always_inline]] std::size_t add(std::size_t held, const Message& m, bool wanted) {
    CAIRN_ASSERT(held < capacity);
    messages_[held] = m;
    return held + static_cast<std::size_t>(wanted);
  }

  /// The messages, in the order in which they were added.
  [[nodiscard]] std::span<const Message> messages(std::size_t held) const {
    return {messages_.data(), held};
  }

 private:
  std::array<Message, capacity> messages_;
};

}  // namespace cairn::activity
