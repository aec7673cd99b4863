// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace cairn::algo::ref {

/// The local clustering coefficients of a small graph by definition, by testing all ordered pairs
/// of each vertex's neighbors: O(n^3).
///
/// arcs      an undirected edge in both directions; may contain duplicates and self-loops
inline std::vector<double> clustering_coefficients(
    std::uint64_t num_vertices, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& arcs) {
  std::vector<std::vector<bool>> leads_to(num_vertices, std::vector<bool>(num_vertices));
  for (const auto& [a, b] : arcs) leads_to[a][b] = true;
  std::vector<double> coefficient(num_vertices, 0);
  for (std::uint64_t v = 0; v < num_vertices; ++v) {
    std::vector<std::uint64_t> neighbors;
    for (std::uint64_t u = 0; u < num_vertices; ++u) {
      if (u != v && (leads_to[v][u] || leads_to[u][v])) neighbors.push_back(u);
    }
    double edges = 0;
    for (const auto x : neighbors) {
      for (const auto y : neighbors) edges += x != y && leads_to[x][y] ? 1 : 0;
    }
    const auto d = static_cast<double>(neighbors.size());
    if (edges > 0) coefficient[v] = edges / (d * (d - 1));
  }
  return coefficient;
}

}  // namespace cairn::algo::ref
