// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include <cairn/algo/mst.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

namespace cairn::algo {

/// Verifies a minimum spanning forest. Returns nothing, or one sentence that names the violated
/// rule and an edge that violates it, with input ids.
///
///   rule 1  an edge of the forest is an edge of the graph, of that weight, at its source's owner
///   rule 2  the forest has no cycles, and no edge twice
///   rule 3  the endpoints of each edge of the graph are in one tree
///   rule 4  no edge of the graph is lighter than a forest edge on the path between its endpoints
///
/// A spanning forest is minimal if and only if rule 4 holds. Every rank joins the vertices of the
/// whole forest, lightest edge first, attaching the smaller tree to the larger's root, and records
/// the time of each join. The latest time on the two paths from two vertices to their common
/// ancestor identifies the heaviest forest edge between them, in at most log2 n steps each. Any
/// minimal forest is accepted, regardless of how ties were broken.
///
/// edges       the edges of the forest on this rank
/// Returns     the same on every rank; of several violations the first by rule, then by endpoints
/// Work        O(m log n)
/// Messages    one gather of the forest (24 bytes per edge, 16 with 32-bit ids), and three of
///             violations
/// Memory      per rank: the whole forest and 24 bytes per vertex of the graph
/// Throws      contract_violation if the graph is directed
/// Collective  all ranks
template <class Id>
[[nodiscard]] std::optional<std::string> verify_mst(world& w, const graph::dist_csr<Id>& g,
                                                    std::span<const mst_edge<Id>> edges);

}  // namespace cairn::algo
