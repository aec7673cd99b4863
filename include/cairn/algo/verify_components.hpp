// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// What is wrong with the labels of components: nothing, or one sentence that names the broken
/// rule and a vertex or edge that breaks it, by the ids of the input.
///
///   rule 1  a label is a vertex no larger than the vertex that has it
///   rule 2  the two ends of an edge have the same label
///   rule 3  a vertex is connected to the vertex that its label names
///
/// By rule 2 labels that are the same cover whole components, by rule 3 only one, and by rule 1
/// they are its smallest vertex. Rule 3 is checked by one search from all vertices that are
/// their own label at once: it sees each edge from each end that it reaches, where rule 2 is
/// checked, and goes on where the label is the same. A vertex that it does not reach is not
/// connected to its label, or another violation is on every way to it. Any contents are judged.
///
/// Returns   the same on every rank; of several violations the first by rule, then by vertices
/// Work      O(n + m)
/// Depth     an epoch per level of the search
/// Messages  one per edge to another rank, from each end
/// Memory    per rank: a byte and two bits per own vertex
/// Throws    contract_violation if the graph is directed and has no in-rows
/// Collective.
template <class Id>
[[nodiscard]] std::optional<std::string> verify_components(world& w, const graph::dist_csr<Id>& g,
                                                           const pgas::vertex_map<Id>& label);

}  // namespace cairn::algo
