// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace cairn::algo::ref {

/// Whether a path of (source, target) edges leads from s to t. Scans all edges until nothing
/// changes: O(n m).
inline bool reaches(std::uint64_t num_vertices,
                    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges,
                    std::uint64_t s, std::uint64_t t) {
  std::vector<bool> reached(num_vertices);
  reached[s] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [source, target] : edges) {
      if (!reached[source] || reached[target]) continue;
      reached[target] = true;
      changed = true;
    }
  }
  return reached[t];
}

}  // namespace cairn::algo::ref
