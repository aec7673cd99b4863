// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <atomic>

#include <cairn/base/types.hpp>
#include <cairn/hw/pause.hpp>

namespace cairn::task {

/// A lock for short critical sections that never wait. Yields after some spinning, because the
/// holder may be preempted, or move a table to larger memory. Models Lockable.
class unpadded_spin_lock {
 public:
  void lock() noexcept {
    for (unsigned spins = 0; !try_lock(); ++spins) {
      if (spins < 100) {
        hw::pause();
      } else {
        sched_yield();
      }
    }
  }
  bool try_lock() noexcept {
    return !held_.load(std::memory_order_relaxed) &&
           !held_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

/// The same on a cache line of its own. Not for the frames of coroutines, which are aligned to 16.
class alignas(cache_line) spin_lock : public unpadded_spin_lock {};

}  // namespace cairn::task
