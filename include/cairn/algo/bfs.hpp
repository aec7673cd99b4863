// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/direction.hpp>
#include <cairn/traverse/superstep_trace.hpp>

namespace cairn::algo {

struct bfs_options {
  activity::options activity = {};
  /// Of each level: push is top-down ([AAM15] listing 4), pull is bottom-up ([Beamer12]).
  traverse::direction direction = traverse::direction::automatic;
  bool depths = false;  ///< also return the depth of each vertex
  bool trace = false;   ///< also return the time of each level
};

template <class Id>
struct bfs_result {
  pgas::vertex_map<Id> parent;                ///< parent[root] == root; no_vertex: unreached
  std::optional<pgas::vertex_map<Id>> depth;  ///< edges from the root; no_vertex: unreached
  activity::ran ran;                          ///< mechanism of the top-down levels
  std::uint64_t levels, bottom_up_levels;
  std::vector<traverse::superstep_record> trace = {};  ///< by level, if requested

  static constexpr auto fields() {
    using r = bfs_result;
    return std::tuple(
        field{"depth", &r::depth, "edges from the source", 0, value_kind::numbers, true},
        field{"parent", &r::parent, "the preceding vertex on a shortest path from the source", 0,
              value_kind::vertices, true},
        field{"levels", &r::levels, "supersteps"},
        field{"bottom_up_levels", &r::bottom_up_levels, "supersteps that ran bottom-up"},
        field{"ran", &r::ran, "mechanism of the top-down levels"});
  }
};

/// Breadth-first search: a parent, and optionally the depth, of every vertex reachable from `root`
/// along out-edges.
///
/// Level-synchronous. Top-down: a worker spawns visit(v, u) for each edge u->v of its part of the
/// frontier to the owner of v, where the first visit wins. Bottom-up: the frontier is gathered on
/// every rank as one bit per vertex, and each owner searches the in-edges of its unvisited vertices
/// for a parent. Vertices without a parent are kept in a list, so that later bottom-up levels scan
/// only those. Bottom-up levels of a directed graph need its in-edges.
///
/// root        a global vertex id
/// Returns     parents and depths at their owners. Depths are determined; the choice among several
///             possible parents is not
/// Work        O(n + m) top-down; bottom-up levels usually scan a small part of the edges
/// Depth       per level one epoch (top-down) or one gather of n bits, and a small reduction unless
///             its sums travel with one of these
/// Memory      per rank: n/P parents (and depths), the frontier; n bits if bottom-up
/// Throws      contract_violation unless root < g.num_vertices()
/// Collective  same root and options on every rank
/// Source      [AAM15] listing 4; [Beamer12] for the directions. The switching rule and the list of
///             unvisited vertices are ours (traverse/direction.hpp, advance.hpp)
template <class Id>
[[nodiscard]] bfs_result<Id> bfs(world& w, const graph::dist_csr<Id>& g, Id root,
                                 const bfs_options& opt = {});

extern template bfs_result<std::uint32_t> bfs(world&, const graph::dist_csr<std::uint32_t>&,
                                              std::uint32_t, const bfs_options&);
extern template bfs_result<std::uint64_t> bfs(world&, const graph::dist_csr<std::uint64_t>&,
                                              std::uint64_t, const bfs_options&);

}  // namespace cairn::algo
