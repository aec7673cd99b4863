// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cairn::algo::ref {

/// Checks a coloring. Returns a violation as one sentence, or "". Every vertex has a color, the
/// endpoints of an edge have different colors, and there are at most largest degree + 1 colors.
/// Edges are listed in either or both directions.
inline std::string coloring_violation(
    std::uint64_t num_vertices, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges,
    const std::vector<std::uint32_t>& color) {
  if (color.size() != num_vertices) return "there is not one color for each vertex";
  std::vector<std::uint64_t> ends(num_vertices);
  for (const auto& [a, b] : edges) {
    ++ends[a];
    ++ends[b];
    if (a != b && color[a] == color[b]) {
      return std::to_string(a) + " and " + std::to_string(b) + " have the same color";
    }
  }
  const auto max_degree = *std::max_element(ends.begin(), ends.end());
  for (const auto c : color) {
    if (c > max_degree) return "color " + std::to_string(c) + " is more than are needed";
  }
  return {};
}

}  // namespace cairn::algo::ref
