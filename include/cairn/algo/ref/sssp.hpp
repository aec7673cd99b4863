// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cairn/algo/ref/mst.hpp>

namespace cairn::algo::ref {

/// The distances from `source` by Dijkstra's algorithm; infinity for unreachable vertices. Serial.
/// An undirected edge leads in both directions.
inline std::vector<double> dijkstra(std::uint64_t num_vertices, bool directed,
                                    const std::vector<weighted_edge>& edges, std::uint64_t source) {
  std::vector<std::vector<std::pair<std::uint64_t, double>>> out(num_vertices);
  for (const auto& e : edges) {
    out[e.source].emplace_back(e.target, e.weight);
    if (!directed) out[e.target].emplace_back(e.source, e.weight);
  }
  constexpr auto never = std::numeric_limits<double>::infinity();
  std::vector<double> distance(num_vertices, never);
  using found = std::pair<double, std::uint64_t>;
  std::priority_queue<found, std::vector<found>, std::greater<>> waiting;
  distance[source] = 0;
  waiting.emplace(0, source);
  while (!waiting.empty()) {
    const auto [d, v] = waiting.top();
    waiting.pop();
    if (d != distance[v]) continue;
    for (const auto& [u, weight] : out[v]) {
      if (d + weight >= distance[u]) continue;
      distance[u] = d + weight;
      waiting.emplace(distance[u], u);
    }
  }
  return distance;
}

/// Checks a tree of shortest paths. Returns a violation as one sentence, or "".
///
/// distance      the result of dijkstra()
/// predecessor   predecessor of each vertex; the source is its own; 2^64 - 1: none
inline std::string tree_violation(bool directed, const std::vector<weighted_edge>& edges,
                                  std::uint64_t source, const std::vector<double>& distance,
                                  const std::vector<std::uint64_t>& predecessor) {
  constexpr auto none = std::numeric_limits<std::uint64_t>::max();
  const auto n = distance.size();
  std::set<std::pair<std::uint64_t, std::uint64_t>> tight;
  for (const auto& e : edges) {
    if (distance[e.source] + e.weight == distance[e.target]) tight.emplace(e.source, e.target);
    if (!directed && distance[e.target] + e.weight == distance[e.source]) {
      tight.emplace(e.target, e.source);
    }
  }
  for (std::uint64_t v = 0; v < n; ++v) {
    if (std::isinf(distance[v])) {
      if (predecessor[v] != none) return "an unreached vertex has a predecessor";
      continue;
    }
    std::uint64_t steps = 0, at = v;
    for (; at != source && steps < n; ++steps) {
      const auto before = predecessor[at];
      if (!tight.contains({before, at})) return "no shortest path comes from a predecessor";
      at = before;
    }
    if (at != source) return "predecessors form a cycle";
  }
  return predecessor[source] == source ? "" : "the source is not its own predecessor";
}

}  // namespace cairn::algo::ref
