// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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

/// The chunk of a loop over n rows or blocks with so many edges. It is the default of parallel_for
/// (0) unless that may exceed some two million edges, a few milliseconds.
[[nodiscard]] inline std::size_t sweep_chunk(const world& w, std::size_t n, std::uint64_t edges) {
  constexpr double max_edges = 2e6;
  constexpr std::size_t default_limit = 16'384;
  const auto rows = max_edges * static_cast<double>(n) / static_cast<double>(edges + 1);
  if (rows >= static_cast<double>(w.size() > 1 ? 256 : default_limit)) return 0;
  const auto share = n / (16 * static_cast<std::size_t>(w.workers()));
  return std::clamp<std::size_t>(share, 1, static_cast<std::size_t>(rows) + 1);
}

/// The state that all variants share: the ranks, and the update of a vertex from the sum of its
/// incoming contributions.
template <class Real, class Id>
struct pagerank_state {
  pagerank_state(world& world, const graph::dist_csr<Id>& graph, double d)
      : w(world),
        g(graph),
        damping(static_cast<Real>(d)),
        rank(w, g.partition(), static_cast<Real>(1 / static_cast<double>(g.num_vertices()))),
        per_edge(rank.local().size(), w.memory()),
        total(w) {}

  /// Computes `per_edge`.
  ///
  /// to          receives the initial contribution of each vertex of this rank, unless null
  /// with_edges  adds the number of this rank's vertices with out-edges, unless null
  void invert_degrees(Real* to, pgas::accumulator<add<double>>* with_edges) {
    w.parallel_for(per_edge.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      const auto* const offsets = g.out().offsets().data();
      auto* const inverse = per_edge.data();
      std::size_t nonzero = 0;
      for (auto i = begin; i < end; ++i) {
        // Signed, because the conversion to floating point is then one instruction.
        const auto degree = static_cast<std::int64_t>(offsets[i + 1] - offsets[i]);
        inverse[i] = degree == 0 ? Real{0} : 1 / static_cast<Real>(degree);
        if (to != nullptr) to[i] = rank.initial() * inverse[i];
        nonzero += degree != 0;
      }
      if (with_edges != nullptr) with_edges->accumulate(k, static_cast<double>(nonzero));
    });
  }

  /// Updates ranks of this rank's vertices for one worker. Passed by value, so that loops keep it
  /// in registers.
  struct rank_updater {
    Real* ranks;
    const Real* per_edge;
    Real jump, damping;
    double change = 0;  ///< sum of |new rank - old rank|

    /// Updates vertex i, by position in this rank. Returns its contribution per out-edge.
    [[gnu::always_inline]] Real operator()(std::size_t i, Real incoming) {
      const Real now = jump + damping * incoming;
      change += static_cast<double>(std::abs(now - ranks[i]));
      ranks[i] = now;
      return now * per_edge[i];
    }
  };
  [[nodiscard]] rank_updater updater() noexcept {
    return {rank.local().data(), per_edge.data(), jump, damping};
  }
  /// The rank of all vertices without out-edges. Collective.
  double rank_of_sinks() {
    const auto ranks = rank.local();
    w.parallel_for(ranks.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      compensated_sum sum;  // rounding errors of many similar terms would accumulate
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
  Real jump = 0;      ///< the part of a new rank that does not depend on in-edges
  double change = 0;  ///< of all ranks in the last sweep
  pgas::vertex_map<Real> rank;
  hw::page_buffer<Real> per_edge;        ///< 1 / out-degree, 0 for sinks; set by invert_degrees()
  pgas::accumulator<add<double>> total;  ///< for the sum in progress
};

}  // namespace cairn::algo
