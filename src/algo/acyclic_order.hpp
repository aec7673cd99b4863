// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/algo/pagerank.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

namespace cairn::algo {

/// Whether each in-edge comes from a vertex with a smaller id, as in a file that lists the edges of
/// an undirected graph once.
///
/// Work      the last entry of each row, up to the first row with a larger source
template <class Id>
[[nodiscard]] bool sources_precede(const graph::csr<Id>& in) {
  const auto rows = in.rows();
  for (auto v = in.first(); v < in.first() + in.num_rows(); ++v) {
    const auto row = rows.neighbors(static_cast<Id>(v));  // ascending
    if (!row.empty() && row.back() >= v) return false;
  }
  return true;
}

/// Whether PageRank takes one sweep in place, by one worker in the order of ids: each rank is then
/// computed from final ranks. Several workers would need at least three sweeps, of which the last
/// one changes nothing, so more than three of them share the sweeps nevertheless. A tolerance of 0
/// asks for all sweeps.
template <class Id>
[[nodiscard]] bool one_sweep_suffices(const world& w, const graph::dist_csr<Id>& g,
                                      const pagerank_options& opt) {
  constexpr int max_workers = 3;
  return w.size() == 1 && w.workers() <= max_workers && opt.variant == pagerank_variant::pull &&
         opt.convention == pagerank_convention::gap && opt.sweep != pagerank_sweep::jacobi &&
         limits_of(opt, g.num_vertices()).tolerance > 0 && g.has_in() && sources_precede(g.in());
}

}  // namespace cairn::algo
