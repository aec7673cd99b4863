// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <cairn/base/contract.hpp>

namespace cairn::activity {

/// What a sieve holds. A loop keeps it in registers.
struct sieve_content {
  static constexpr std::size_t capacity = 64;

  std::uint64_t wanted = 0;  ///< bits, the last message's is bit 63
  std::size_t messages = 0;
  [[nodiscard]] bool full() const noexcept { return messages == capacity; }
};

/// Up to 64 messages, and which of them are wanted. For loops in which that is unpredictable: add()
/// has no branch on it. Nor does the address of its store depend on it, because some processors
/// delay the loads that follow until they know the address.
///
/// Thread-safety: one thread
template <class Message>
class sieve {
 public:
  static constexpr std::size_t capacity = sieve_content::capacity;

  /// Returns what the sieve then holds. Requires that it is not full.
  [[gnu::always_inline]] sieve_content add(sieve_content now, const Message& m, bool wanted) {
    CAIRN_ASSERT(!now.full());
    messages_[now.messages] = m;
    return {now.wanted >> 1 | static_cast<std::uint64_t>(wanted) << (capacity - 1),
            now.messages + 1};
  }

  /// Calls f(message) for those that are wanted, in the order in which they were added.
  template <class F>
  void for_each_wanted(sieve_content now, F&& f) const {
    if (now.messages == 0) return;
    for (auto bits = now.wanted >> (capacity - now.messages); bits != 0; bits &= bits - 1) {
      f(messages_[static_cast<std::size_t>(std::countr_zero(bits))]);
    }
  }

 private:
  std::array<Message, capacity> messages_;
};

}  // namespace cairn::activity
