// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
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

/// The order in which vertices are visited.
///
///   levels               level by level, all ranks together
///   distributed_control  each worker by its own queue in the order of depths, all in one epoch
///   chaotic              in the order in which they are reached, all in one epoch
///   automatic            levels
enum class bfs_method { automatic, levels, distributed_control, chaotic };
template <>
inline constexpr std::span<const std::string_view> enum_names<bfs_method> =
    words<"auto", "levels", "distributed-control", "chaotic">;

[[nodiscard]] constexpr bool by_levels(bfs_method m) noexcept {
  return m == bfs_method::automatic || m == bfs_method::levels;
}

struct bfs_options {
  activity::options activity = {};
  bfs_method algorithm = bfs_method::automatic;
  /// Of each level: push is top-down ([AAM15] listing 4), pull is bottom-up ([Beamer12]).
  traverse::direction direction = traverse::direction::automatic;
  bool depths = false;  ///< also return the depth of each vertex
  bool trace = false;   ///< also return the time of each level
};

template <class Id>
struct bfs_result {
  pgas::vertex_map<Id> parent;                ///< parent[root] == root; no_vertex: unreached
  std::optional<pgas::vertex_map<Id>> depth;  ///< edges from the root; no_vertex: unreached
  activity::ran ran;  ///< mechanism of the top-down levels, or of all visits
  std::uint64_t levels = 0, bottom_up_levels = 0;
  std::string_view algorithm = enum_name(bfs_method::levels);
  std::uint64_t relaxations = 0;  ///< edges that lowered a depth or tried to; by levels not counted
  std::vector<traverse::superstep_record> trace = {};  ///< by level, if requested

  static constexpr auto fields() {
    using r = bfs_result;
    return std::tuple(
        field{"depth", &r::depth, "edges from the source", 0, value_kind::numbers, true},
        field{"parent", &r::parent, "the preceding vertex on a shortest path from the source", 0,
              value_kind::vertices, true},
        field{"algorithm", &r::algorithm, "the order in which vertices were visited"},
        field{"levels", &r::levels, "supersteps; 0: there were none"},
        field{"bottom_up_levels", &r::bottom_up_levels, "supersteps that ran bottom-up"},
        field{"ran", &r::ran, "mechanism of the top-down levels, or of all visits"});
  }
};

/// Breadth-first search: a parent, and optionally the depth, of every vertex reachable from `root`
/// along out-edges.
///
/// By levels: top-down, a worker spawns visit(v, u) for each edge u->v of its part of the frontier
/// to the owner of v, where the first visit wins. Bottom-up, the frontier is gathered on every rank
/// as one bit per vertex, and each owner searches the in-edges of its unvisited vertices for a
/// parent. Vertices without a parent are kept in a list, so that later bottom-up levels scan only
/// those. Bottom-up levels of a directed graph need its in-edges.
///
/// By distributed control or chaotically: sssp() with edges of length 1, without barriers. A vertex
/// is visited again when its depth is lowered. Parents are chosen when all depths are known.
///
/// root        a global vertex id
/// Returns     parents and depths at their owners. Depths are determined; the choice among several
///             possible parents is not
/// Work        O(n + m) top-down; bottom-up levels usually scan a small part of the edges. Without
///             levels: further relaxations depend on the order
/// Depth       per level one epoch (top-down) or one gather of n bits, and a small reduction unless
///             its sums travel with one of these. Without levels: three epochs
/// Memory      per rank: n/P parents (and depths), the frontier; n bits if bottom-up. Without
///             levels: as sssp()
/// Throws      contract_violation unless root < g.num_vertices(), or if the graph has weights and
///             is not searched by levels
/// Collective  same root and options on every rank
/// Source      [AAM15] listing 4; listing 2 (chaotic); [DC15] algorithm 1 (distributed control);
///             [Beamer12] for the directions. The switching rule and the list of unvisited vertices
///             are ours (traverse/direction.hpp, advance.hpp)
template <class Id>
[[nodiscard]] bfs_result<Id> bfs(world& w, const graph::dist_csr<Id>& g, Id root,
                                 const bfs_options& opt = {});

extern template bfs_result<std::uint32_t> bfs(world&, const graph::dist_csr<std::uint32_t>&,
                                              std::uint32_t, const bfs_options&);
extern template bfs_result<std::uint64_t> bfs(world&, const graph::dist_csr<std::uint64_t>&,
                                              std::uint64_t, const bfs_options&);

}  // namespace cairn::algo
