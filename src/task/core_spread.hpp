// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <atomic>

#include <cairn/base/types.hpp>
#include <cairn/hw/topology.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::task {

/// Keeps workers that are not pinned on different cores, as long as there is a core for each.
///
/// Workers that wake each other and yield while they wait may stay on one core for seconds while
/// another core idles, because neither looks busy to the kernel. Each worker says now and then
/// where it runs; one that finds a lower worker there moves, and may be moved again by the kernel.
///
/// Thread-safety: worker w calls look(w).
class core_spread {
 public:
  core_spread(int workers, const hw::core_set& cores, bool wanted)
      : cores_(cores),
        workers_(workers),
        active_(wanted && workers > 1 && workers <= cores.size()),
        core_of_(workers) {}

  /// Cost      some 30 ns every 16 calls; some microseconds where a worker moves
  void look(worker_t w) noexcept {
    if (!active_) return;
    auto& mine = core_of_[w];
    if (mine.calls++ % 16 != 0) return;
    const int here = sched_getcpu();
    mine.core.store(here, std::memory_order_relaxed);
    for (worker_t lower = 0; lower < w; ++lower) {
      if (core_of_[lower].core.load(std::memory_order_relaxed) == here) return move(w);
    }
  }

 private:
  struct place {
    std::atomic<int> core{-1};
    unsigned calls = 0;
  };

  // To the first core on which no other worker was seen.
  void move(worker_t w) noexcept {
    const auto& numbers = cores_.numbers();
    for (int i = 0; i < cores_.size(); ++i) {
      bool taken = false;
      for (worker_t v = 0; v < workers_; ++v) {
        taken |= v != w && core_of_[v].core.load(std::memory_order_relaxed) ==
                               numbers[static_cast<std::size_t>(i)];
      }
      if (taken) continue;
      cores_.pin_this_thread(i);
      cores_.unpin_this_thread();
      return core_of_[w].core.store(numbers[static_cast<std::size_t>(i)],
                                    std::memory_order_relaxed);
    }
  }

  const hw::core_set& cores_;
  const int workers_;
  const bool active_;
  per_worker<place> core_of_;
};

}  // namespace cairn::task
