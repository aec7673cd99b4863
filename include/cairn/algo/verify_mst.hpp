// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include <cairn/algo/mst.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

namespace cairn::algo {

/// What is wrong with a minimum spanning forest: nothing, or one sentence that names the broken
/// rule and an edge that breaks it, by the ids of the input.
///
///   rule 1  an edge of the forest is one of the graph, of that weight, at its source's owner
///   rule 2  the forest has no cycles
///   rule 3  the two ends of each edge of the graph are in one tree
///   rule 4  no edge of the graph is lighter than an edge of the forest on the way between its ends
///
/// These say all: a spanning forest is minimal if and only if rule 4 holds. Every rank joins the
/// whole forest's vertices, lightest edge first, the smaller tree below the larger's root, and
/// keeps when that was: the latest time on the two ways up to where they meet names the heaviest
/// edge between two vertices, at most log2 n steps each. Any forest that is minimal is accepted,
/// however ties were broken.
///
/// edges     those of the forest that this rank has
/// Returns   the same on every rank; of several violations the first by rule, then by ends
/// Work      O(m log n);  Memory  per rank: the whole forest and 24 bytes per vertex of the graph
/// Throws    contract_violation if the graph is directed
/// Collective.
template <class Id>
[[nodiscard]] std::optional<std::string> verify_mst(world& w, const graph::dist_csr<Id>& g,
                                                    std::span<const mst_edge<Id>> edges);

}  // namespace cairn::algo
