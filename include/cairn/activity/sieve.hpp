// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace cairn::activity {

/// Up to 64 messages, and which of them are wanted. For loops in which that is unpredictable: add()
/// has no branch on it. Nor does the address of its store depend on it, because some processors
/// delay the loads that follow until they know the address.
///
/// Thread-safety: one thread
template <class Message>
class sieve {
 public:
  static constexpr std::size_t capacity = 64;

  /// How full a sieve is. A loop keeps it in registers.
  struct level {
    std::uint64_t wanted = 0;  ///< bits, the last message's is bit 63
    std::size_t messages = 0;
    [[nodiscard]] bool full() const noexcept { return messages == capacity; }
  };

  /// Requires that the sieve is not full. Returns the new level.
  [[gnu::always_inline]] level add(level at, const Message& m, bool wanted) noexcept {
    messages_[at.messages] = m;
    return {at.wanted >> 1 | static_cast<std::uint64_t>(wanted) << (capacity - 1), at.messages + 1};
  }

  /// Calls f(message) for those that are wanted, in the order in which they were added.
  template <class F>
  void for_each_wanted(level at, F&& f) const {
    if (at.messages == 0) return;
    for (auto bits = at.wanted >> (capacity - at.messages); bits != 0; bits &= bits - 1) {
      f(messages_[static_cast<std::size_t>(std::countr_zero(bits))]);
    }
  }

 private:
  std::array<Message, capacity> messages_;
};

}  // namespace cairn::activity
