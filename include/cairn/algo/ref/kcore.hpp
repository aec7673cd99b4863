// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace cairn::algo::ref {

/// Core numbers by definition: for each k, vertices with fewer than k neighbors are removed until
/// none is left. An undirected edge is listed in both directions, any number of times; a directed
/// edge counts at both endpoints.
inline std::vector<std::uint32_t> core_numbers(
    std::uint64_t num_vertices, bool directed,
    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& arcs) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> different;
  for (const auto& [a, b] : arcs) {
    if (a != b) different.emplace(a, b);
  }
  std::vector<std::vector<std::uint64_t>> neighbors(num_vertices);
  for (const auto& [a, b] : different) {
    neighbors[a].push_back(b);
    if (directed) neighbors[b].push_back(a);
  }
  std::vector<std::uint32_t> core(num_vertices, 0);
  std::vector<bool> left(num_vertices, true);
  for (std::uint32_t k = 1;; ++k) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint64_t v = 0; v < num_vertices; ++v) {
        if (!left[v]) continue;
        std::uint64_t degree = 0;
        for (const auto u : neighbors[v]) degree += left[u] ? 1 : 0;
        if (degree >= k) continue;
        left[v] = false;
        changed = true;
      }
    }
    bool any = false;
    for (std::uint64_t v = 0; v < num_vertices; ++v) {
      if (!left[v]) continue;
      core[v] = k;
      any = true;
    }
    if (!any) return core;
  }
}

}  // namespace cairn::algo::ref
