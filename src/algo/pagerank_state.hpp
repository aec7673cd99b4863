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
    double sinks = 0;   ///< rank of vertices without out-edges
  };

  pagerank_state(world& world, const graph::dist_csr<Id>& graph, double d)
      : w(world),
        g(graph),
        damping(static_cast<Real>(d)),
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

  /// Gives own vertex i its new rank and returns what it gives along each of its out-edges.
  [[gnu::always_inline]] Real settle(std::size_t i, Real incoming, tally& seen) {
    Real& own = rank.local()[i];
    const Real now = jump + damping * incoming;
    seen.change += std::abs(static_cast<double>(now - own));
    own = now;
    const Real share = per_edge[i];
    if (share == 0) seen.sinks += static_cast<double>(now);
    return now * share;
  }

  /// The sum of what the workers of all ranks saw since the last call. Collective.
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
  Real jump = 0;  ///< what every vertex gets in this sweep, whatever its in-edges
  pgas::vertex_map<Real> rank;
  hw::page_buffer<Real> per_edge;  ///< 1 / out-degree; 0 for sinks
  task::per_worker<tally> tallies;
};

}  // namespace cairn::algo
