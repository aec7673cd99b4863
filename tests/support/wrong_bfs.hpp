// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>

#include <support/random_graphs.hpp>

namespace cairn::support {

inline constexpr std::uint64_t nobody = no_vertex<std::uint64_t>;

/// A whole result of breadth-first search, right or with a seeded error. `nobody` stands for
/// no_vertex, and nobody - 1 for the largest id other than no_vertex, for any id width.
struct bfs_tree {
  std::uint64_t root = 0;
  std::vector<std::uint64_t> parent, depth;
};

/// A correct result; random numbers choose among the possible parents.
inline bfs_tree true_bfs(const plain_graph& g, std::uint64_t root, random64& random) {
  bfs_tree t{root, std::vector(g.n, nobody), std::vector(g.n, nobody)};
  const auto out = g.neighbors();
  t.parent[root] = root;
  t.depth[root] = 0;
  std::vector<std::uint64_t> level{root};
  for (std::uint64_t depth = 1; !level.empty(); ++depth) {
    for (auto i = level.size(); i > 1; --i) std::swap(level[i - 1], level[random.below(i)]);
    std::vector<std::uint64_t> next;
    for (const auto u : level) {
      for (const auto v : out[u]) {
        if (t.depth[v] != nobody) continue;
        t.depth[v] = depth;
        t.parent[v] = u;
        next.push_back(v);
      }
    }
    level = std::move(next);
  }
  return t;
}

/// The data for seeding an error: the graph and a correct result.
class error_seeder {
 public:
  using vertex = std::uint64_t;
  using predicate = std::function<bool(vertex)>;
  using pair_predicate = std::function<bool(vertex, vertex)>;

  error_seeder(const plain_graph& whole, const bfs_tree& right_result, std::uint64_t seed)
      : g(whole), right(right_result), out(g.neighbors()), random(random64(seed).stream(0x5ab)) {}

  [[nodiscard]] bool reached(vertex v) const { return right.depth[v] != nobody; }
  [[nodiscard]] bool below_root(vertex v) const { return reached(v) && v != right.root; }
  [[nodiscard]] bool adjacent(vertex u, vertex v) const {
    return std::binary_search(out[u].begin(), out[u].end(), v);
  }
  [[nodiscard]] bool has_children(vertex v) const {
    for (vertex u = 0; u < g.n; ++u) {
      if (u != v && right.parent[u] == v) return true;
    }
    return false;
  }
  /// Whether v is u or an ancestor of u.
  [[nodiscard]] bool above_or_same(vertex v, vertex u) const {
    while (u != v && u != right.root) u = right.parent[u];
    return u == v;
  }

  /// A vertex, or a pair of distinct vertices, for which `good` holds.
  std::optional<vertex> pick(const predicate& good) {
    const auto start = random.below(g.n);
    for (vertex i = 0; i < g.n; ++i) {
      const auto v = (start + i) % g.n;
      if (good(v)) return v;
    }
    return std::nullopt;
  }
  std::optional<std::pair<vertex, vertex>> pick(const pair_predicate& good) {
    std::pair<vertex, vertex> found;
    const auto u = pick([&](vertex a) {
      const auto b = pick([&](vertex c) { return c != a && good(a, c); });
      if (b) found = {a, *b};
      return b.has_value();
    });
    if (!u) return std::nullopt;
    return found;
  }

  const plain_graph& g;
  const bfs_tree& right;
  const std::vector<std::vector<vertex>> out;
  random64 random;
};

/// An error that can be seeded into a correct result. `seed` returns false if the graph does not
/// permit it.
struct seeded_error {
  std::string name;
  bool wrongs_parents, wrongs_depths;  ///< whether a judge of only parents or depths must detect it
  std::function<bool(error_seeder&, bfs_tree&)> seed;
};

/// All seeded errors. Each gives a result that no correct search can give.
std::vector<seeded_error> all_seeded_errors();

}  // namespace cairn::support
