// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include <cairn/algo/verify_bfs.hpp>

#include "algo/bfs_checker.hpp"

namespace cairn::algo {
namespace {

/// The only vertex of all ranks for which is_root(v) holds.
template <class Id>
named_root<Id> unique_root(world& w, const graph::dist_csr<Id>& g, const char* property,
                           auto&& is_root) {
  struct found_roots {
    std::uint64_t count = 0;
    Id first = no_vertex<Id>, second = no_vertex<Id>;
  } mine;
  const auto& p = g.partition();
  for (auto v = p.first(w.rank()); v < p.last(w.rank()); ++v) {
    if (!is_root(static_cast<Id>(v))) continue;
    if (mine.count < 2) (mine.count == 0 ? mine.first : mine.second) = static_cast<Id>(v);
    ++mine.count;
  }
  std::uint64_t count = 0;
  std::vector<Id> named;
  for (const auto& r : w.all_gather(mine)) {
    count += r.count;
    if (r.count > 0) named.push_back(r.first);
    if (r.count > 1) named.push_back(r.second);
  }
  if (count == 1) return {named[0], {}};
  const std::string no_root = std::string("the result names no root: no vertex ") + property;
  if (count == 0) return {no_vertex<Id>, no_root};
  const auto id = [&](Id v) { return g.labels().text_of(v); };
  return {no_vertex<Id>, "the result names " + std::to_string(count) + " roots: vertex " +
                             id(named[0]) + ", vertex " + id(named[1]) +
                             (count > 2 ? ", ... each " : " each ") + property};
}

}  // namespace

template <class Id>
std::optional<std::string> verify_bfs(world& w, const graph::dist_csr<Id>& g, Id root,
                                      const pgas::vertex_map<Id>& parent,
                                      const pgas::vertex_map<Id>* depth) {
  bfs_checker<Id> check(w, g, root);
  check.check_vertices(parent, depth);
  auto found = check.found();
  if (!found) {
    check.check_tree(parent, depth);
    found = check.found();
  }
  if (!found) {
    if (depth) {
      check.check_edges(*depth);
    } else {
      const auto derived = check.depths_of(parent);
      found = check.found();
      if (!found) check.check_edges(derived);
    }
    if (!found) found = check.found();
  } else if (found.rule == bfs_violation::wrong_step) {
    // A cycle contains a wrong step; reporting the cycle is more informative.
    static_cast<void>(check.depths_of(parent));
    found = check.found();
  }
  if (!found) return std::nullopt;
  return to_sentence(found, g.labels());
}

template <class Id>
std::optional<std::string> verify_bfs_depths(world& w, const graph::dist_csr<Id>& g, Id root,
                                             const pgas::vertex_map<Id>& depth) {
  bfs_checker<Id> check(w, g, root);
  check.check_roots(depth);
  auto found = check.found();
  if (!found) {
    std::vector<std::uint8_t> marks(check.num_own());
    check.check_edges(depth, marks);
    check.check_marks(depth, marks);
    found = check.found();
  }
  if (!found) return std::nullopt;
  return to_sentence(found, g.labels());
}

template <class Id>
named_root<Id> root_of_parents(world& w, const graph::dist_csr<Id>& g,
                               const pgas::vertex_map<Id>& parent) {
  return unique_root(w, g, "is its own parent", [&](Id v) { return parent.load(v) == v; });
}

template <class Id>
named_root<Id> root_of_depths(world& w, const graph::dist_csr<Id>& g,
                              const pgas::vertex_map<Id>& depth) {
  return unique_root(w, g, "has depth 0", [&](Id v) { return depth.load(v) == 0; });
}

#define CAIRN_INSTANTIATE(Id)                                                                   \
  template std::optional<std::string> verify_bfs(world&, const graph::dist_csr<Id>&, Id,        \
                                                 const pgas::vertex_map<Id>&,                   \
                                                 const pgas::vertex_map<Id>*);                  \
  template std::optional<std::string> verify_bfs_depths(world&, const graph::dist_csr<Id>&, Id, \
                                                        const pgas::vertex_map<Id>&);           \
  template named_root<Id> root_of_parents(world&, const graph::dist_csr<Id>&,                   \
                                          const pgas::vertex_map<Id>&);                         \
  template named_root<Id> root_of_depths(world&, const graph::dist_csr<Id>&,                    \
                                         const pgas::vertex_map<Id>&);
CAIRN_INSTANTIATE(std::uint32_t)
CAIRN_INSTANTIATE(std::uint64_t)
#undef CAIRN_INSTANTIATE

}  // namespace cairn::algo
