// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include <cairn/algo/ref/mst.hpp>

namespace cairn::algo::ref {

/// The distances from `source` that Dijkstra's algorithm finds, infinity where no path leads.
/// Serial. Of the edges an undirected one leads both ways.
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

}  // namespace cairn::algo::ref
