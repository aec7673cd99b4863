// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cairn/base/compensated_sum.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/pgas/accumulator.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// The state that all variants share: the ranks, and the update of a vertex from the sum of its
/// incoming contributions.
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
        // Signed, because the conversion to floating point is then one instruction.
        const auto degree = static_cast<std::int64_t>(offsets[i + 1] - offsets[i]);
        per_edge[i] = degree == 0 ? Real{0} : 1 / static_cast<Real>(degree);
      }
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
  /// The sum over positions [begin, end) of what came by in-edges, where vertices with out-edges
  /// count by 1 - damping (see rank_sum_correction).
  [[nodiscard]] double inflow(std::size_t begin, std::size_t end) const {
    // Written for vectors: partial sums of a short stretch, and a mask instead of a condition.
    constexpr std::size_t lanes = 32, stretch = 1024;
    using bits = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
    const auto* const ranks = rank.local().data();
    const auto* const with_edges = per_edge.data();
    const auto term = [=, from_jump = jump, d = damping](std::size_t i) {
      const Real came = ranks[i] - from_jump;
      const bits mask = std::bit_cast<bits>(with_edges[i]) == 0 ? 0 : -1;
      return came - d * std::bit_cast<Real>(std::bit_cast<bits>(came) & mask);
    };
    double sum = 0;
    while (begin < end) {
      const auto stop = std::min(end, begin + stretch);
      Real part[lanes] = {};
      for (; begin + lanes <= stop; begin += lanes) {
        for (std::size_t j = 0; j < lanes; ++j) part[j] += term(begin + j);
      }
      for (; begin < stop; ++begin) part[0] += term(begin);
      for (const Real x : part) sum += double{x};
    }
    return sum;
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
  Real jump = 0;  ///< the part of a new rank that does not depend on in-edges
  pgas::vertex_map<Real> rank;
  hw::page_buffer<Real> per_edge;        ///< 1 / out-degree; 0 for sinks
  pgas::accumulator<add<double>> total;  ///< for the sum in progress
};

}  // namespace cairn::algo
