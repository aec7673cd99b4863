// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <string>
#include <utility>
#include <vector>

// Judges share no code with what they judge: this file includes only the standard library and
// represents a graph as its list of edges, an undirected edge once in each direction.

namespace cairn::algo::ref {

using edge_list = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  ///< (source, target)

/// Depth or parent of a vertex that is not reachable from the root.
inline constexpr std::uint64_t unreached = ~std::uint64_t{0};

/// Depth of every vertex by the textbook algorithm; serial.
inline std::vector<std::uint64_t> bfs_depths(std::uint64_t num_vertices, const edge_list& edges,
                                             std::uint64_t root) {
  std::vector<std::vector<std::uint64_t>> targets(num_vertices);
  for (const auto& [source, target] : edges) targets[source].push_back(target);
  std::vector<std::uint64_t> depth(num_vertices, unreached);
  std::queue<std::uint64_t> todo({root});
  depth[root] = 0;
  for (; !todo.empty(); todo.pop()) {
    const auto v = todo.front();
    for (const auto u : targets[v]) {
      if (depth[u] != unreached) continue;
      depth[u] = depth[v] + 1;
      todo.push(u);
    }
  }
  return depth;
}

/// Checks the parents of a breadth-first search. Returns a violation as one sentence, or "". Any
/// shortest-path tree is valid: parent[root] == root; every other reachable vertex has a parent one
/// level above it that has an edge to it; all other vertices have no parent.
inline std::string bfs_violation(std::uint64_t num_vertices, const edge_list& edges,
                                 std::uint64_t root, const std::vector<std::uint64_t>& parent) {
  const auto depth = bfs_depths(num_vertices, edges, root);
  auto sorted = edges;
  std::sort(sorted.begin(), sorted.end());
  if (parent.size() != num_vertices) return "there is not one parent for each vertex";
  for (std::uint64_t v = 0; v < num_vertices; ++v) {
    const auto p = parent[v];
    const auto who = "vertex " + std::to_string(v);
    if (v == root) {
      if (p != root) return "the root is not its own parent";
    } else if (depth[v] == unreached) {
      if (p != unreached) return who + " has a parent and cannot be reached";
    } else if (p == unreached) {
      return who + " has no parent and can be reached";
    } else if (p >= num_vertices || depth[p] + 1 != depth[v]) {
      return who + " has a parent that is not one level above it";
    } else if (!std::binary_search(sorted.begin(), sorted.end(), std::pair(p, v))) {
      return who + " has a parent without an edge to it";
    }
  }
  return {};
}

}  // namespace cairn::algo::ref
