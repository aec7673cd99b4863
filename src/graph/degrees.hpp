// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <graph/arcs.hpp>
#include <vector>

#include <cairn/graph/io/raw_edges.hpp>

namespace cairn {
class world;
}

namespace cairn::graph::detail {

/// The number of arcs of each source vertex: out-arcs, in-arcs or both; the same on every rank.
///
/// Memory    8 bytes a vertex on each rank
/// Messages  the counts, from every rank to every rank
/// Collective.
[[nodiscard]] std::vector<std::uint64_t> degrees_of(world& w, const io::raw_edges& edges,
                                                    std::uint64_t num_vertices, direction arcs);

}  // namespace cairn::graph::detail
