// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

namespace cairn::tm {

/// A function that a waiting loop calls with the number of rounds waited so far. It pauses, then
/// yields (task::pool::relax). tm itself never blocks.
template <class R>
concept relax_function = requires(R& relax, unsigned rounds) {
  relax(rounds);
};

/// A spin lock of four bytes. Not fair. Waiters only read, so the holder keeps the cache line until
/// it unlocks.
class word_lock {
 public:
  [[nodiscard]] bool try_lock() noexcept {
    return word_.load(std::memory_order_relaxed) == 0 &&
           word_.exchange(1, std::memory_order_acquire) == 0;
  }

  /// Returns whether another worker held it first.
  template <relax_function Relax>
  bool lock(Relax&& relax) {
    if (try_lock()) return false;
    unsigned rounds = 0;
    do relax(rounds++);
    while (!try_lock());
    return true;
  }

  void unlock() noexcept { word_.store(0, std::memory_order_release); }

  [[nodiscard]] bool taken() const noexcept { return word_.load(std::memory_order_relaxed) != 0; }

 private:
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace cairn::tm
