// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::algo {

/// What all ways of sweeping share: the ranks, and what becomes of a vertex once it is known
/// what its in-edges give it.
template <class Real, class Id>
struct pagerank_state {
  /// What one worker saw of a sweep.
  struct tally {
    double change = 0;  ///< sum of |new rank - old rank|
    double sinks = 0;   ///< rank of vertices without out-edges, if it is to be spread
  };

  pagerank_state(world& world, const graph::dist_csr<Id>& graph, double d, bool spread)
      : w(world),
        g(graph),
        damping(static_cast<Real>(d)),
        spread_sinks(spread),
        rank(w, g.partition(), static_cast<Real>(1 / static_cast<double>(g.num_vertices()))),
        per_edge(rank.local().size()),
        tallies(w.workers()) {
    const auto first = g.out().first();
    w.parallel_for(per_edge.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      for (auto i = begin; i < end; ++i) {
        const auto degree = g.out().degree(first + i);
        per_edge[i] = degree == 0 ? Real{0} : 1 / static_cast<Real>(degree);
        if (degree == 0) tallies[k].sinks += static_cast<double>(rank.initial());
      }
    });
  }

  /// One worker's way to give own vertices their new ranks; a value, so that the loop around it
  /// keeps it in registers.
  struct settler {
    Real* ranks;
    const Real* per_edge;
    Real jump, damping;
    bool spread_sinks;
    tally seen;

    /// Vertex i, by its position among the own ones. Returns what it gives along each out-edge.
    [[gnu::always_inline]] Real operator()(std::size_t i, Real incoming) {
      const Real now = jump + damping * incoming;
      seen.change += static_cast<double>(std::abs(now - ranks[i]));
      ranks[i] = now;
      const Real share = per_edge[i];
      if (spread_sinks && share == 0) seen.sinks += static_cast<double>(now);
      return now * share;
    }
  };
  [[nodiscard]] settler settle() noexcept {
    return {rank.local().data(), per_edge.data(), jump, damping, spread_sinks, {}};
  }
  void note(worker_t k, const tally& seen) {
    tallies[k].change += seen.change;
    tallies[k].sinks += seen.sinks;
  }

  /// The sum of what the workers of all ranks noted since the last call. Collective.
  tally total() {
    tally mine;
    for (auto& k : tallies) {
      const auto seen = std::exchange(k.value, {});
      mine.change += seen.change;
      mine.sinks += seen.sinks;
    }
    tally sum;
    for (const auto& r : w.all_gather(mine)) {
      sum.change += r.change;
      sum.sinks += r.sinks;
    }
    return sum;
  }

  world& w;
  const graph::dist_csr<Id>& g;
  const Real damping;
  const bool spread_sinks;
  Real jump = 0;  ///< what every vertex gets in this sweep, whatever its in-edges
  pgas::vertex_map<Real> rank;
  hw::page_buffer<Real> per_edge;  ///< 1 / out-degree; 0 for sinks
  task::per_worker<tally> tallies;
};

}  // namespace cairn::algo
