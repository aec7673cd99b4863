// SPDX-License-Identifier: Apache-2.0
#include <support/wrong_bfs.hpp>

namespace cairn::support {
namespace {

using vertex = error_seeder::vertex;

// Sets the depths that fit the parents, right or wrong; returns false if the parents do not lead to
// the root.
bool follow_parents(bfs_tree& t) {
  for (vertex v = 0; v < t.parent.size(); ++v) {
    if (t.parent[v] == nobody) continue;
    std::uint64_t steps = 0;
    for (auto u = v; u != t.root; u = t.parent[u]) {
      if (++steps > t.parent.size()) return false;
    }
    t.depth[v] = steps;
  }
  return true;
}

bool give_parent(bfs_tree& t, const std::optional<std::pair<vertex, vertex>>& parent_and_child) {
  if (!parent_and_child) return false;
  t.parent[parent_and_child->second] = parent_and_child->first;
  return true;
}

std::vector<seeded_error> parent_errors() {
  const auto below_root = [](error_seeder& s) {
    return [&s](vertex v) { return s.below_root(v); };
  };
  return {
      {"a parent that is no neighbor", true, false,
       [](error_seeder& s, bfs_tree& t) {
         return give_parent(t, s.pick([&](vertex u, vertex v) {
           return s.reached(u) && s.below_root(v) && !s.adjacent(u, v) && !s.above_or_same(v, u);
         }));
       }},
      {"a parent of the same depth", true, false,
       [](error_seeder& s, bfs_tree& t) {
         return give_parent(t, s.pick([&](vertex u, vertex v) {
           return s.below_root(v) && s.adjacent(u, v) && s.right.depth[u] == s.right.depth[v];
         }));
       }},
      {"a longer way, with depths that fit it", true, true,
       [](error_seeder& s, bfs_tree& t) {
         return give_parent(t, s.pick([&](vertex u, vertex v) {
                  return s.below_root(v) && s.reached(u) && s.adjacent(u, v) &&
                         s.right.depth[u] >= s.right.depth[v] && !s.above_or_same(v, u);
                })) &&
                follow_parents(t);
       }},
      {"two neighbors that are each other's parent", true, false,
       [](error_seeder& s, bfs_tree& t) {
         const auto pair = s.pick([&](vertex u, vertex v) {
           return s.below_root(u) && s.below_root(v) && s.adjacent(u, v) && s.adjacent(v, u);
         });
         if (!pair) return false;
         t.parent[pair->first] = pair->second;
         return give_parent(t, pair);
       }},
      {"a cycle through a descendant", true, false,
       [](error_seeder& s, bfs_tree& t) {
         return give_parent(t, s.pick([&](vertex u, vertex v) {
           return s.below_root(v) && s.reached(u) && s.above_or_same(v, u);
         }));
       }},
      {"a vertex that is missed", true, true,
       [](error_seeder& s, bfs_tree& t) {
         const auto v = s.pick([&](vertex u) { return s.below_root(u) && !s.has_children(u); });
         if (v) t.parent[*v] = t.depth[*v] = nobody;
         return v.has_value();
       }},
      {"a whole branch that is missed", true, true,
       [below_root](error_seeder& s, bfs_tree& t) {
         const auto v = s.pick(below_root(s));
         if (!v) return false;
         for (vertex u = 0; u < s.g.n; ++u) {
           if (s.reached(u) && s.above_or_same(*v, u)) t.parent[u] = t.depth[u] = nobody;
         }
         return true;
       }},
      {"a vertex out of reach", true, true,
       [](error_seeder& s, bfs_tree& t) {
         const auto v = s.pick([&](vertex u) { return !s.reached(u); });
         if (!v) return false;
         const auto u = s.pick([&](vertex a) { return s.reached(a); });
         t.parent[*v] = *u;
         t.depth[*v] = t.depth[*u] + 1;
         return true;
       }},
      {"a parent out of reach", true, false,
       [](error_seeder& s, bfs_tree& t) {
         return give_parent(
             t, s.pick([&](vertex u, vertex v) { return !s.reached(u) && s.below_root(v); }));
       }},
      {"a parent just beyond the last vertex", true, false,
       [below_root](error_seeder& s, bfs_tree& t) {
         const auto v = s.pick(below_root(s));
         if (v) t.parent[*v] = s.g.n;
         return v.has_value();
       }},
      {"the largest number as a parent", true, false,
       [](error_seeder& s, bfs_tree& t) {
         t.parent[*s.pick([](vertex) { return true; })] = nobody - 1;
         return true;
       }},
      {"a root with a parent", true, false,
       [](error_seeder& s, bfs_tree& t) {
         const auto u = s.pick([&](vertex v) { return v != s.right.root; });
         if (u) t.parent[s.right.root] = *u;
         return u.has_value();
       }},
      {"a root that is not reached", true, true,
       [](error_seeder& s, bfs_tree& t) {
         t.parent[s.right.root] = t.depth[s.right.root] = nobody;
         return true;
       }},
      {"a second root", true, true,
       [](error_seeder& s, bfs_tree& t) {
         const auto v = s.pick([&](vertex u) { return u != s.right.root; });
         if (!v) return false;
         t.parent[*v] = *v;
         t.depth[*v] = 0;
         return true;
       }},
      {"the search from another root", true, true,
       [](error_seeder& s, bfs_tree& t) {
         const auto v = s.pick([&](vertex u) { return u != s.right.root; });
         if (!v) return false;
         t = true_bfs(s.g, *v, s.random);
         t.root = s.right.root;
         return true;
       }},
      {"nothing reached at all", true, true,
       [](error_seeder&, bfs_tree& t) {
         std::fill(t.parent.begin(), t.parent.end(), nobody);
         std::fill(t.depth.begin(), t.depth.end(), nobody);
         return true;
       }},
  };
}

// Replaces the depth of a vertex below the root by new_depth(its right depth).
seeded_error one_wrong_depth(std::string name,
                             std::function<std::uint64_t(std::uint64_t)> new_depth) {
  return {std::move(name), false, true, [new_depth](error_seeder& s, bfs_tree& t) {
            const auto v = s.pick([&](vertex u) { return s.below_root(u); });
            if (v) t.depth[*v] = new_depth(t.depth[*v]);
            return v.has_value();
          }};
}

std::vector<seeded_error> depth_errors() {
  return {
      one_wrong_depth("a depth that is one too large", [](auto d) { return d + 1; }),
      one_wrong_depth("a depth that is one too small", [](auto d) { return d - 1; }),
      one_wrong_depth("a depth far too large", [](auto d) { return d + 1000; }),
      one_wrong_depth("the largest number as a depth", [](auto) { return nobody - 1; }),
      one_wrong_depth("a reached vertex without depth", [](auto) { return nobody; }),
      {"a depth out of reach", false, true,
       [](error_seeder& s, bfs_tree& t) {
         const auto v = s.pick([&](vertex u) { return !s.reached(u); });
         if (v) t.depth[*v] = 1;
         return v.has_value();
       }},
      {"a root that is not at depth 0", false, true,
       [](error_seeder& s, bfs_tree& t) {
         t.depth[s.right.root] = 1;
         return true;
       }},
      {"all depths one too large", false, true,
       [](error_seeder&, bfs_tree& t) {
         for (auto& d : t.depth) d += d != nobody ? 1 : 0;
         return true;
       }},
      {"two depths swapped", false, true,
       [](error_seeder& s, bfs_tree& t) {
         const auto pair = s.pick([&](vertex u, vertex v) {
           return s.reached(u) && s.reached(v) && s.right.depth[u] != s.right.depth[v];
         });
         if (pair) std::swap(t.depth[pair->first], t.depth[pair->second]);
         return pair.has_value();
       }},
      {"all depths twice as large", false, true,
       [](error_seeder& s, bfs_tree& t) {
         for (auto& d : t.depth) d *= d != nobody ? 2 : 1;
         return s.pick([&](vertex u) { return s.below_root(u); }).has_value();
       }},
  };
}

}  // namespace

std::vector<seeded_error> all_seeded_errors() {
  auto all = parent_errors();
  for (auto& s : depth_errors()) all.push_back(std::move(s));
  return all;
}

}  // namespace cairn::support
