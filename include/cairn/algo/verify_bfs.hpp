// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// What is wrong with a breadth-first search tree: nothing, or one sentence that names the
/// broken rule and a vertex or edge that breaks it, by the ids of the input.
///
///   rule 1  the tree has no cycles: parents lead from every reached vertex to the root
///   rule 2  a tree edge leads from one depth to the next
///   rule 3  no edge leads down by more than one depth (an undirected edge: either way)
///   rule 4  the tree spans what the root reaches, nothing less and nothing more
///   rule 5  a tree edge is an edge of the graph
///
/// The rules also say that the depths are the least possible ones. Any contents are judged:
/// parents and depths that are no vertex of the graph, cycles, several roots.
///
/// Depths that are given are checked. Where there are none they follow from the parents by
/// pointer jumping: a vertex asks the vertex it points to where that one points, and so
/// doubles its distance from round to round.
///
/// root      a vertex; find it with root_of_parents if the result does not say
/// parent    parent[root] == root; no_vertex: unreached
/// depth     edges from the root; no_vertex: unreached; nullptr: not given
/// Returns   the same on every rank; of several violations one that says most
/// Work      O(n log(degree) + m), and O(n log(depth)) where depths are not given
/// Depth     two epochs, and one for each doubling where depths are not given
/// Messages  one per reached vertex to its parent's owner; one per edge to another rank, unless
///           the sender has told that vertex of an edge from no deeper
/// Memory    per rank: 4 n/P ids where depths are not given; per worker the sender's cache
/// Throws    contract_violation unless root < g.num_vertices()
/// Collective.
/// Source    Graph500 benchmark specification 2.0, section "Validation"
template <class Id>
[[nodiscard]] std::optional<std::string> verify_bfs(world& w, const graph::dist_csr<Id>& g, Id root,
                                                    const pgas::vertex_map<Id>& parent,
                                                    const pgas::vertex_map<Id>* depth = nullptr);

/// The same for a result of depths alone: the root and no other vertex has depth 0, every other
/// reached vertex has an edge from a vertex one level up (in the place of rules 1, 2 and 5), and
/// rules 3 and 4.
///
/// Memory    a byte per own vertex
template <class Id>
[[nodiscard]] std::optional<std::string> verify_bfs_depths(world& w, const graph::dist_csr<Id>& g,
                                                           Id root,
                                                           const pgas::vertex_map<Id>& depth);

/// The root that a result itself names, or one sentence why it names none.
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
