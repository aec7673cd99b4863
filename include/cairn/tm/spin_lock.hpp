// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

namespace cairn::tm {

/// What a waiting loop of tm calls, with the number of rounds waited so far: it pauses, then
/// yields (task::pool::relax). tm itself never blocks.
template <class R>
concept relax_function = requires(R& relax, unsigned rounds) {
  relax(rounds);
};

/// Four bytes that one worker holds at a time. Not fair. Waiting reads only, so that the holder
/// keeps its cache line until it unlocks.
class spin_lock {
 public:
  [[nodiscard]] bool try_lock() noexcept {
    return word_.load(std::memory_order_relaxed) == 0 &&
           word_.exchange(1, std::memory_order_acquire) == 0;
  }

  /// Returns whether somebody else held it meanwhile.
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
