// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <cairn/base/compensated_sum.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/pgas/accumulator.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// What all ways of sweeping share: the ranks, and what becomes of a vertex once it is known
/// what its in-edges give it.
template <class Real, class Id>
struct pagerank_state {
  pagerank_state(world& world, const graph::dist_csr<Id>& graph, double d)
      : w(world),
        g(graph),
        damping(static_cast<Real>(d)),
        rank(w, g.partition(), static_cast<Real>(1 / static_cast<double>(g.num_vertices()))),
        per_edge(rank.local().size()),
        total(w) {
    const auto offsets = g.out().offsets();
    w.parallel_for(per_edge.size(), [&](worker_t, std::size_t begin, std::size_t end) {
      for (auto i = begin; i < end; ++i) {
        // As a signed number, which converts in one instruction.
        const auto degree = static_cast<std::int64_t>(offsets[i + 1] - offsets[i]);
        per_edge[i] = degree == 0 ? Real{0} : 1 / static_cast<Real>(degree);
      }
    });
  }

  /// One worker's way to give own vertices their new ranks; a value, so that the loop around it
  /// keeps it in registers.
  struct settler {
    Real* ranks;
    const Real* per_edge;
    Real jump, damping;
    double change = 0;  ///< sum of |new rank - old rank|

    /// Vertex i, by its position among the own ones. Returns what it gives along each out-edge.
    [[gnu::always_inline]] Real operator()(std::size_t i, Real incoming) {
      const Real now = jump + damping * incoming;
      change += static_cast<double>(std::abs(now - ranks[i]));
      ranks[i] = now;
      return now * per_edge[i];
    }
  };
  [[nodiscard]] settler settle() noexcept {
    return {rank.local().data(), per_edge.data(), jump, damping};
  }
  /// The rank of all vertices without out-edges. Collective.
  double rank_of_sinks() {
    const auto ranks = rank.local();
    w.parallel_for(ranks.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      compensated_sum sum;  // of many ranks that are much alike, whose roundings add up
      for (auto i = begin; i < end; ++i) {
        if (per_edge[i] == 0) sum += double{ranks[i]};
      }
      total.accumulate(k, sum.value());
    });
    return total.collect();
  }

  world& w;
  const graph::dist_csr<Id>& g;
  const Real damping;
  Real jump = 0;  ///< what every vertex gets in this sweep, whatever its in-edges
  pgas::vertex_map<Real> rank;
  hw::page_buffer<Real> per_edge;        ///< 1 / out-degree; 0 for sinks
  pgas::accumulator<add<double>> total;  ///< of a sum that is being made
};

}  // namespace cairn::algo
