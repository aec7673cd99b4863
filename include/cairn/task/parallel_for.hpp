// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>

#include <cairn/task/pool.hpp>

namespace cairn::task {

/// Calls f(worker, begin, end) for disjoint chunks that cover [0, n), on all workers of the pool;
/// returns when all have ended. Chunks are assigned in ascending order.
///
/// chunk     elements per call; 0 chooses about 16 chunks per worker
/// between   between(worker) is called after each chunk (core handles arrived messages there); once
///           it returns false no new chunk starts
/// Throws    the first exception of f; no new chunk starts after it
/// Called by worker 0 only, never nested.
template <class F, class Between>
void parallel_for(pool& p, std::size_t n, std::size_t chunk, F&& f, Between&& between) {
  if (n == 0) return;
  const auto workers = static_cast<std::size_t>(p.workers());
  if (chunk == 0) chunk = std::max<std::size_t>(1, n / (16 * workers));
  if (workers == 1 || n <= chunk) {
    for (std::size_t begin = 0; begin < n; begin += chunk) {
      f(main_worker, begin, std::min(n, begin + chunk));
      if (!between(main_worker)) return;
    }
    return;
  }
  std::atomic<std::size_t> next{0};
  const auto take_chunks = [&](worker_t w) {
    try {
      for (;;) {
        const auto begin = next.fetch_add(chunk, std::memory_order_relaxed);
        if (begin >= n) return;
        f(w, begin, std::min(n, begin + chunk));
        if (!between(w)) next.store(n, std::memory_order_relaxed);
      }
    } catch (...) {
      next.store(n, std::memory_order_relaxed);
      throw;
    }
  };
  p.share(std::cref(take_chunks));  // by reference: a copy would be allocated
}

/// The same; between chunks the pool's sources decide whether the loop continues.
///
/// Throws    also `cancelled` and peer_failure, if loops must end in the rank's world
template <class F>
void parallel_for(pool& p, std::size_t n, std::size_t chunk, F&& f) {
  parallel_for(p, n, chunk, f, [&](worker_t w) { return p.may_continue(w); });
  p.throw_if_interrupted();
}

}  // namespace cairn::task
