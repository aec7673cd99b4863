// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace cairn::algo::ref {

/// The labels of label propagation after some iterations; vertex v begins with label v.
///
/// edges     an undirected edge once, in either orientation. Both ends are neighbors
///           of each other; an undirected self-loop makes the vertex its own neighbor once, a
///           directed one twice
inline std::vector<std::uint64_t> propagated_labels(
    std::uint64_t num_vertices, bool directed,
    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges, std::uint64_t iterations) {
  std::vector<std::uint64_t> label(num_vertices);
  for (std::uint64_t v = 0; v < num_vertices; ++v) label[v] = v;
  for (; iterations > 0; --iterations) {
    std::vector<std::map<std::uint64_t, std::uint64_t>> votes(num_vertices);
    for (const auto& [a, b] : edges) {
      ++votes[a][label[b]];
      if (directed || a != b) ++votes[b][label[a]];
    }
    auto next = label;
    for (std::uint64_t v = 0; v < num_vertices; ++v) {
      std::uint64_t max_times = 0;
      for (const auto& [x, times] : votes[v]) {  // ascending, so that the smallest of equals wins
        if (times <= max_times) continue;
        max_times = times;
        next[v] = x;
      }
    }
    if (next == label) break;
    label = next;
  }
  return label;
}

}  // namespace cairn::algo::ref
