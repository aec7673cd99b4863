// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// Verifies a breadth-first search tree. Returns nothing, or one sentence that names the violated
/// rule and a vertex or edge that violates it, with input ids.
///
///   rule 1  the tree has no cycles: parents lead from every reached vertex to the root
///   rule 2  the depths of the endpoints of a tree edge differ by one
///   rule 3  no edge increases the depth by more than one (an undirected edge: in either direction)
///   rule 4  the tree spans exactly the vertices reachable from the root
///   rule 5  a tree edge is an edge of the graph
///
/// The rules imply that the depths are minimal. Any contents are accepted as input: parents and
/// depths that are no vertex of the graph, cycles, several roots.
///
/// Given depths are checked. Otherwise depths are computed from the parents by pointer jumping:
/// each vertex asks its current ancestor for that vertex's ancestor, which doubles the distance in
/// each round.
///
/// root        a vertex; use root_of_parents if the result does not contain it
/// parent      parent[root] == root; no_vertex: unreached
/// depth       edges from the root; no_vertex: unreached; nullptr: not given
/// Returns     the same on every rank; of several violations the most informative
/// Work        O(n log(degree) + m), and O(n log(depth)) without depths
/// Depth       two epochs, and one for each doubling without depths
/// Messages    one per reached vertex to its parent's owner; one per edge to another rank, unless
///             the sender has already sent that target an edge from no larger depth
/// Memory      per rank: 4 n/P ids without depths; per worker the sender's cache
/// Throws      contract_violation unless root < g.num_vertices()
/// Collective  all ranks
/// Source      [Graph500] version 2.0, section "Validation"
template <class Id>
[[nodiscard]] std::optional<std::string> verify_bfs(world& w, const graph::dist_csr<Id>& g, Id root,
                                                    const pgas::vertex_map<Id>& parent,
                                                    const pgas::vertex_map<Id>* depth = nullptr);

/// As verify_bfs() for a result that has only depths. Instead of rules 1, 2 and 5: the root and no
/// other vertex has depth 0, and every other reached vertex has an edge from a vertex one level up.
///
/// Memory    one byte per vertex of this rank
template <class Id>
[[nodiscard]] std::optional<std::string> verify_bfs_depths(world& w, const graph::dist_csr<Id>& g,
                                                           Id root,
                                                           const pgas::vertex_map<Id>& depth);

/// The root that a result implies, or one sentence why there is none.
template <class Id>
struct named_root {
  Id vertex = no_vertex<Id>;
  std::string problem;  ///< empty if there is exactly one
};

/// The only vertex that is its own parent. Collective; the same on every rank.
template <class Id>
[[nodiscard]] named_root<Id> root_of_parents(world& w, const graph::dist_csr<Id>& g,
                                             const pgas::vertex_map<Id>& parent);

/// The only vertex of depth 0. Collective; the same on every rank.
template <class Id>
[[nodiscard]] named_root<Id> root_of_depths(world& w, const graph::dist_csr<Id>& g,
                                            const pgas::vertex_map<Id>& depth);

}  // namespace cairn::algo
