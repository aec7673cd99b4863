// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cairn::algo::ref {

/// Checks a coloring. Returns a violation as one sentence, or "". Every vertex has a color, the
/// endpoints of an edge have different colors, and there are at most as many colors as the largest
/// number of neighbors of a vertex + 1. Edges are listed in either or both directions.
inline std::string coloring_violation(
    std::uint64_t num_vertices, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges,
    const std::vector<std::uint32_t>& color) {
  if (color.size() != num_vertices) return "there is not one color for each vertex";
  std::vector<std::vector<std::uint64_t>> neighbors(num_vertices);
  for (const auto& [a, b] : edges) {
    if (a != b) {
      neighbors[a].push_back(b);
      neighbors[b].push_back(a);
    }
    if (a != b && color[a] == color[b]) {
      return std::to_string(a) + " and " + std::to_string(b) + " have the same color";
    }
  }
  std::size_t most = 0;
  for (auto& of : neighbors) {
    std::sort(of.begin(), of.end());
    most = std::max<std::size_t>(most, std::unique(of.begin(), of.end()) - of.begin());
  }
  for (const auto c : color) {
    if (c > most) return "color " + std::to_string(c) + " is more than are needed";
  }
  return {};
}

}  // namespace cairn::algo::ref
