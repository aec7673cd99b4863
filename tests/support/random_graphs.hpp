// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/graph/edge.hpp>

namespace cairn::support {

/// A small graph as an edge list, for tests; duplicate edges and self-loops are allowed.
struct plain_graph {
  std::string name;
  std::uint64_t n = 0;
  bool directed = false;
  std::vector<graph::edge<std::uint64_t>> edges;  ///< an undirected edge once, in either direction

  /// For each vertex the targets of its edges, ascending; an undirected self-loop counts once.
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> neighbors() const {
    std::vector<std::vector<std::uint64_t>> out(n);
    for (const auto& e : edges) {
      out[e.source].push_back(e.target);
      if (!directed && e.source != e.target) out[e.target].push_back(e.source);
    }
    for (auto& row : out) std::sort(row.begin(), row.end());
    return out;
  }
  /// Pairs (source, target) as the judges take them; an undirected edge in both directions.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> arcs() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    for (const auto& e : edges) {
      all.emplace_back(e.source, e.target);
      if (!directed) all.emplace_back(e.target, e.source);
    }
    return all;
  }
};

/// Number of random graphs of a test: `few`, or CAIRN_SOAK_GRAPHS if set (make soak).
inline int num_random_graphs(int few) {
  const auto* const many = std::getenv("CAIRN_SOAK_GRAPHS");
  return many ? std::atoi(many) : few;
}

inline plain_graph path(std::uint64_t n) {
  plain_graph g{"path of " + std::to_string(n), n, false, {}};
  for (std::uint64_t v = 1; v < n; ++v) g.edges.push_back({v - 1, v});
  return g;
}

/// All edges in one direction, so that only vertex 0 reaches all others.
inline plain_graph one_way_path(std::uint64_t n) {
  auto g = path(n);
  g.name = "one-way " + g.name;
  g.directed = true;
  return g;
}

inline plain_graph star(std::uint64_t n) {
  plain_graph g{"star of " + std::to_string(n), n, false, {}};
  for (std::uint64_t v = 1; v < n; ++v) g.edges.push_back({v, 0});
  return g;
}

inline plain_graph complete(std::uint64_t n) {
  plain_graph g{"complete graph of " + std::to_string(n), n, false, {}};
  for (std::uint64_t v = 0; v < n; ++v) {
    for (std::uint64_t u = 0; u < v; ++u) g.edges.push_back({u, v});
  }
  return g;
}

inline plain_graph grid(std::uint64_t rows, std::uint64_t columns) {
  plain_graph g{"grid of " + std::to_string(rows) + " x " + std::to_string(columns),
                rows * columns,
                false,
                {}};
  for (std::uint64_t v = 0; v < g.n; ++v) {
    if (v % columns + 1 < columns) g.edges.push_back({v, v + 1});
    if (v + columns < g.n) g.edges.push_back({v, v + columns});
  }
  return g;
}

/// A random graph with 1 to `max_vertices` vertices and up to a few edges per vertex, directed or
/// not. It has some duplicate edges and self-loops, usually isolated vertices, sometimes a hub.
inline plain_graph random_graph(std::uint64_t seed, std::uint64_t max_vertices = 60) {
  auto random = random64(seed).stream(0x9a4);
  plain_graph g{"random graph of seed " + std::to_string(seed),
                1 + random.below(max_vertices),
                random.below(2) == 0,
                {}};
  const auto connected = 1 + random.below(g.n);  // the others stay isolated
  const auto hub = random.below(connected);
  const bool has_hub = random.below(3) == 0;
  for (auto left = random.below(4 * connected); left > 0; --left) {
    const graph::edge<std::uint64_t> e{random.below(connected), random.below(connected)};
    g.edges.push_back(e);
    if (random.below(8) == 0) g.edges.push_back(e);
    if (random.below(8) == 0) g.edges.push_back({e.target, e.target});
    if (has_hub && random.below(2) == 0) g.edges.push_back({hub, e.target});
  }
  return g;
}

/// A random graph of two halves, sometimes joined by one edge in either direction.
inline plain_graph two_halves(random64& random) {
  plain_graph g{"two halves", 80, random.below(2) == 0, {}};
  for (int i = 0; i < 70; ++i) {
    const auto half = 40 * random.below(2);
    g.edges.push_back({half + random.below(40), half + random.below(40)});
  }
  if (random.below(2) == 0) g.edges.push_back({random.below(80), random.below(80)});
  return g;
}

/// Corner cases for algorithms: fewer vertices than ranks, no edges, one long path, one hub, a
/// complete graph.
inline std::vector<plain_graph> corner_graphs() {
  return {{"one vertex", 1, false, {}},
          {"one vertex with a self-loop", 1, true, {{0, 0}}},
          {"two vertices", 2, false, {{1, 0}}},
          {"five isolated vertices", 5, false, {}},
          {"two triangles", 7, false, {{0, 1}, {1, 2}, {2, 0}, {4, 5}, {5, 6}, {6, 4}}},
          path(70),
          one_way_path(9),
          star(130),
          complete(12),
          grid(5, 9)};
}

}  // namespace cairn::support
