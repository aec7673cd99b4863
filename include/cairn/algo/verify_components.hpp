// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// Verifies the labels of components. Returns nothing, or one sentence that names the violated rule
/// and a vertex or edge that violates it, with input ids.
///
///   rule 1  a label is a vertex no larger than the vertex that has it
///   rule 2  the endpoints of an edge have the same label
///   rule 3  a vertex is connected to the vertex that its label names
///
/// By rule 2 the vertices with the same label form whole components, by rule 3 a single one, and by
/// rule 1 the label is its smallest vertex. One search from all vertices that are their own label
/// checks rules 2 and 3. It sees each edge from each endpoint that it reaches, checks rule 2 there,
/// and continues if the labels are equal. A vertex that it does not reach is not connected to its
/// label, or every path to it violates another rule. Any contents are accepted as input.
///
/// Returns     the same on every rank; of several violations the first by rule, then by vertices
/// Work        O(n + m)
/// Depth       an epoch per level of the search
/// Messages    one per edge to another rank, from each endpoint
/// Memory      per rank: one byte and two bits per vertex
/// Throws      contract_violation if the graph is directed and has no in-rows
/// Collective  all ranks
template <class Id>
[[nodiscard]] std::optional<std::string> verify_components(world& w, const graph::dist_csr<Id>& g,
                                                           const pgas::vertex_map<Id>& label);

}  // namespace cairn::algo
