// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace cairn::algo::ref {

struct triangle_counts {
  std::uint64_t total = 0;
  std::vector<std::uint64_t> of_vertex;
};

/// The triangles of a small graph, by testing all sets of three vertices: O(n^3).
///
/// edges     pairs in either or both directions; may contain duplicates and self-loops
inline triangle_counts count_triangles(
    std::uint64_t num_vertices, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges) {
  std::vector<std::vector<bool>> joined(num_vertices, std::vector<bool>(num_vertices));
  for (const auto& [a, b] : edges) joined[a][b] = joined[b][a] = true;
  triangle_counts counts{0, std::vector<std::uint64_t>(num_vertices)};
  for (std::uint64_t a = 0; a < num_vertices; ++a) {
    for (std::uint64_t b = 0; b < a; ++b) {
      if (!joined[a][b]) continue;
      for (std::uint64_t c = 0; c < b; ++c) {
        if (!joined[a][c] || !joined[b][c]) continue;
        ++counts.total;
        for (const auto v : {a, b, c}) ++counts.of_vertex[v];
      }
    }
  }
  return counts;
}

}  // namespace cairn::algo::ref
