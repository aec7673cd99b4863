// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cairn::algo::ref {

/// Checks a colouring. Returns a violation as one sentence, or "". Every vertex has a colour, the
/// endpoints of an edge have different colours, and there are at most largest degree + 1 colours.
/// Edges are listed in either or both directions.
inline std::string coloring_violation(
    std::uint64_t num_vertices, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges,
    const std::vector<std::uint32_t>& colour) {
  if (colour.size() != num_vertices) return "there is not one colour for each vertex";
  std::vector<std::uint64_t> ends(num_vertices);
  for (const auto& [a, b] : edges) {
    ++ends[a];
    ++ends[b];
    if (a != b && colour[a] == colour[b]) {
      return std::to_string(a) + " and " + std::to_string(b) + " have the same colour";
    }
  }
  const auto most = *std::max_element(ends.begin(), ends.end());
  for (const auto c : colour) {
    if (c > most) return "colour " + std::to_string(c) + " is more than are needed";
  }
  return {};
}

}  // namespace cairn::algo::ref
