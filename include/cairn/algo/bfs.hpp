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
#include <cairn/traverse/step_trace.hpp>

namespace cairn::algo {

struct bfs_options {
  activity::options activity = {};
  /// Of levels: push ([AAM15] listing 4) is known as top-down, pull ([Beamer12]) as bottom-up.
  traverse::direction direction = traverse::direction::automatic;
  bool depths = false;  ///< also say how far each vertex is from the root
  bool trace = false;   ///< also say how long each level took
};

template <class Id>
struct bfs_result {
  pgas::vertex_map<Id> parent;                ///< parent[root] == root; no_vertex: unreached
  std::optional<pgas::vertex_map<Id>> depth;  ///< edges from the root; no_vertex: unreached
  activity::ran ran;                          ///< how the top-down levels ran
  std::uint64_t levels, bottom_up_levels;
  std::vector<traverse::step_record> trace = {};  ///< by level, if asked for

  static constexpr auto fields() {
    using r = bfs_result;
    return std::tuple(field{"depth", &r::depth, "edges from the source", 0, holds::numbers, true},
                      field{"parent", &r::parent, "the vertex before it on a path from the source",
                            0, holds::vertices, true},
                      field{"levels", &r::levels, "supersteps"},
                      field{"bottom_up_levels", &r::bottom_up_levels, "of them those that pulled"},
                      field{"ran", &r::ran, "how the top-down levels ran"});
  }
};

/// Breadth-first search: a parent, and on request the depth, of every vertex reachable from
/// `root` along out-edges.
///
/// Level-synchronous. Top-down, a worker spawns visit(v, u) along each edge u->v of its part of
/// the frontier to the owner of v, where the first visit wins. Bottom-up, the frontier is
/// gathered as one bit per vertex on every rank, and each owner looks through the in-edges of
/// its unvisited vertices; vertices that found none are kept in a list, so that later levels
/// look at nothing else. Directed graphs go bottom-up only if they have their in-edges.
///
/// root      a global vertex id
/// Returns   parents and depths at their owners. Depths are determined; which of several
///           parents wins is not.
/// Work      O(n + m) top-down; bottom-up levels usually see a small part of the edges.
/// Depth     per level one epoch (top-down) or one gather of n bits, and one small gather.
/// Memory    per rank: n/P parents (and depths), the frontier, n bits when bottom-up.
/// Throws    contract_violation unless root < g.num_vertices()
/// Collective: same root and options on every rank.
/// Source    [AAM15] listing 4; [Beamer12] for the directions; when to change them and the list
///           of vertices still unvisited are ours (traverse/direction.hpp, advance.hpp).
template <class Id>
[[nodiscard]] bfs_result<Id> bfs(world& w, const graph::dist_csr<Id>& g, Id root,
                                 const bfs_options& opt = {});

extern template bfs_result<std::uint32_t> bfs(world&, const graph::dist_csr<std::uint32_t>&,
                                              std::uint32_t, const bfs_options&);
extern template bfs_result<std::uint64_t> bfs(world&, const graph::dist_csr<std::uint64_t>&,
                                              std::uint64_t, const bfs_options&);

}  // namespace cairn::algo
