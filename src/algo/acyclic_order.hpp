// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <cairn/algo/pagerank.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

namespace cairn::algo {

/// Whether each in-edge comes from a vertex with a smaller id, as in a file that lists the edges of
/// an undirected graph once.
///
/// Work      the last entry of each row, by all workers; little if one of the first 1,024 rows has
///           a source that does not precede it
template <class Id>
[[nodiscard]] bool sources_precede(world& w, const graph::csr<Id>& in) {
  const auto rows = in.rows();
  const auto precede = [&](std::size_t begin, std::size_t end) {
    for (auto v = in.first() + begin; v < in.first() + end; ++v) {
      const auto row = rows.neighbors(static_cast<Id>(v));  // ascending
      if (!row.empty() && row.back() >= v) return false;
    }
    return true;
  };
  constexpr std::size_t beginning = 1024;  // where a graph without this order usually shows it
  if (!precede(0, std::min<std::size_t>(beginning, in.num_rows()))) return false;
  if (in.num_rows() <= beginning) return true;
  std::atomic<bool> all = true;
  w.parallel_for(in.num_rows() - beginning, [&](worker_t, std::size_t begin, std::size_t end) {
    if (all.load(std::memory_order_relaxed) && !precede(beginning + begin, beginning + end)) {
      all.store(false, std::memory_order_relaxed);
    }
  });
  return all.load(std::memory_order_relaxed);
}

/// Whether PageRank takes one sweep in place, by one worker in the order of ids: each rank is then
/// computed from final ranks. Several workers would need at least three sweeps, of which the last
/// one changes nothing, so more than three of them share the sweeps nevertheless. A tolerance of 0
/// asks for all sweeps.
template <class Id>
[[nodiscard]] bool one_sweep_suffices(world& w, const graph::dist_csr<Id>& g,
                                      const pagerank_options& opt) {
  constexpr int max_workers = 3;
  return w.size() == 1 && w.workers() <= max_workers && opt.variant == pagerank_variant::pull &&
         opt.convention == pagerank_convention::gap && opt.sweep != pagerank_sweep::jacobi &&
         limits_of(opt, g.num_vertices()).tolerance > 0 && g.has_in() && sources_precede(w, g.in());
}

}  // namespace cairn::algo
