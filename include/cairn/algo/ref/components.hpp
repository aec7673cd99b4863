// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

// Judges share no code with what they judge: this file includes only the standard library.

namespace cairn::algo::ref {

/// The smallest vertex of each vertex's component, ignoring the direction of edges. Serial, by
/// depth-first search from each vertex in turn.
inline std::vector<std::uint64_t> component_labels(
    std::uint64_t num_vertices, const std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges) {
  std::vector<std::vector<std::uint64_t>> adjacent(num_vertices);
  for (const auto& [u, v] : edges) {
    adjacent[u].push_back(v);
    adjacent[v].push_back(u);
  }
  const auto unseen = num_vertices;
  std::vector<std::uint64_t> label(num_vertices, unseen), stack;
  for (std::uint64_t root = 0; root < num_vertices; ++root) {
    if (label[root] != unseen) continue;
    label[root] = root;
    stack.push_back(root);
    while (!stack.empty()) {
      const auto v = stack.back();
      stack.pop_back();
      for (const auto u : adjacent[v]) {
        if (label[u] != unseen) continue;
        label[u] = root;
        stack.push_back(u);
      }
    }
  }
  return label;
}

}  // namespace cairn::algo::ref
