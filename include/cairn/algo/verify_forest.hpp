// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/graph/io/raw_edges.hpp>

namespace cairn::algo {

/// Verifies a minimum spanning forest that a file lists. Returns nothing, or one sentence, as
/// verify_mst does.
///
/// A row names the ends of its edge in any order. If rows have no weights, an edge has the smallest
/// weight of the graph's edges between its ends.
///
/// rows        some rows on each rank; their ids are vertices
/// Messages    each row at most once, to the owner of its smaller end; those of verify_mst
/// Memory      per rank: own edges twice; that of verify_mst
/// Throws      contract_violation if the graph is directed
/// Collective  all ranks
template <class Id>
[[nodiscard]] std::optional<std::string> verify_forest(world& w, const graph::dist_csr<Id>& g,
                                                       const graph::io::raw_edges& rows);

}  // namespace cairn::algo
