// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <atomic>

#include <cairn/base/types.hpp>
#include <cairn/hw/topology.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::task {

/// pinning::automatic: keeps workers on different cores, if there is a core for each.
///
/// Workers that wake each other and yield while they wait may share a core for seconds while
/// another core idles, because neither looks busy to the kernel. Each worker records its core at
/// every 16th job. A worker that shares the core of a lower-numbered one moves, preferably to the
/// core that it would have if pinned. It is not bound there.
///
/// Thread-safety: worker k calls record_core(k).
class core_spread {
 public:
  core_spread(const thread_options& options, const hw::core_set& cores)
      : cores_(cores),
        workers_(options.workers),
        first_core_(options.first_core),
        active_(options.pin == pinning::automatic && workers_ > 1 &&
                first_core_ + workers_ <= cores.size()),
        core_of_(workers_) {}

  /// Cost      some 30 ns every 16 calls; some microseconds if the worker moves
  void record_core(worker_t k) noexcept {
    if (!active_) return;
    auto& mine = core_of_[k];
    if (mine.calls++ % 16 != 0) return;
    const int here = sched_getcpu();
    mine.core.store(here, std::memory_order_relaxed);
    for (worker_t lower{0}; lower < k; ++lower) {
      if (core_of_[lower].core.load(std::memory_order_relaxed) == here) return move(k);
    }
  }

 private:
  struct place {
    std::atomic<int> core{-1};
    unsigned calls = 0;
  };

  // Moves to the next core, starting at the worker's own, where no other worker was seen.
  void move(worker_t k) noexcept {
    for (int i = 0; i < cores_.size(); ++i) {
      const int index = (first_core_ + k + i) % cores_.size();
      const int core = cores_.numbers()[static_cast<std::size_t>(index)];
      bool taken = false;
      for (worker_t v{0}; v < workers_; ++v) {
        taken |= v != k && core_of_[v].core.load(std::memory_order_relaxed) == core;
      }
      if (taken) continue;
      cores_.pin_this_thread(index);
      cores_.unpin_this_thread();
      return core_of_[k].core.store(core, std::memory_order_relaxed);
    }
  }

  const hw::core_set& cores_;
  const int workers_, first_core_;
  const bool active_;
  per_worker<place> core_of_;
};

}  // namespace cairn::task
