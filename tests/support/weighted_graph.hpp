// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/algo/ref/maxflow.hpp>
#include <cairn/algo/ref/mst.hpp>
#include <cairn/base/random.hpp>

#include <support/dist_graph.hpp>
#include <support/random_graphs.hpp>

namespace cairn::support {

enum class weights { none, whole, real };

/// A small graph with weights, as judges take them.
struct weighted_graph {
  plain_graph graph;
  weights kind = weights::none;
  std::vector<algo::ref::weighted_edge> edges;  ///< of weight 1 if there are none

  /// Sorted by source, target and weight; an undirected edge in both directions, a self-loop once.
  [[nodiscard]] std::vector<algo::ref::weighted_edge> arcs() const {
    auto all = edges;
    for (const auto& e : edges) {
      if (!graph.directed && e.source != e.target) all.push_back({e.target, e.source, e.weight});
    }
    // Without std::tie, which takes most of the time of tests that are not optimised.
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      if (a.source != b.source) return a.source < b.source;
      return a.target != b.target ? a.target < b.target : a.weight < b.weight;
    });
    return all;
  }
  [[nodiscard]] std::vector<algo::ref::capacity_arc> capacities() const {
    std::vector<algo::ref::capacity_arc> all;
    for (const auto& a : arcs()) {
      all.push_back({a.source, a.target, static_cast<std::int64_t>(a.weight)});
    }
    return all;
  }
};

/// Draws from few different weights, from `min_weight` on, so that many are equal. Real weights are
/// multiples of 1/4, whose sums are exact.
inline weighted_graph weigh(plain_graph g, weights kind, int min_weight, random64& random) {
  weighted_graph result{std::move(g), kind, {}};
  for (const auto& e : result.graph.edges) {
    const auto drawn = static_cast<double>(random.below(12)) + min_weight;
    const auto weight = kind == weights::none ? 1 : kind == weights::whole ? drawn : drawn / 4;
    result.edges.push_back({e.source, e.target, weight});
  }
  return result;
}

/// One rank's share of a weighted graph, without in-edges.
template <class Id>
graph::dist_csr<Id> share_of(const weighted_graph& g, rank_t rank,
                             const pgas::partition& partition) {
  const auto arcs = g.arcs();
  std::vector<std::uint64_t> offsets{0};
  std::vector<Id> targets;
  std::vector<graph::weighted_edge<Id, std::int32_t>> whole;
  std::vector<graph::weighted_edge<Id, double>> real;
  auto at = arcs.begin();
  for (auto v = partition.first(rank); v < partition.last(rank); ++v) {
    at = std::find_if(at, arcs.end(), [&](const auto& a) { return a.source >= v; });
    for (; at != arcs.end() && at->source == v; ++at) {
      const auto target = static_cast<Id>(at->target);
      targets.push_back(target);
      whole.push_back({target, static_cast<std::int32_t>(at->weight)});
      real.push_back({target, at->weight});
    }
    offsets.push_back(targets.size());
  }
  graph::weighted_edges<Id> edges;
  if (g.kind == weights::whole) edges = detail::to_array(whole);
  if (g.kind == weights::real) edges = detail::to_array(real);
  return {partition, g.graph.directed, g.edges.size(),
          graph::csr<Id>(partition.first(rank), detail::to_array(offsets),
                         detail::to_array(targets), std::move(edges)),
          graph::labels(g.graph.n)};
}
/// share_of with equal blocks.
template <class Id>
graph::dist_csr<Id> share_of(const weighted_graph& g, rank_t rank, rank_t ranks) {
  return share_of<Id>(g, rank, pgas::partition(g.graph.n, ranks));
}

}  // namespace cairn::support
