// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include <cairn/core/world.hpp>
#include <cairn/graph/builder.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/graph/labels.hpp>

namespace cairn::graph {

/// Vertex ids in memory: 32 or 64 bits, signed (NumPy's default) or unsigned.
using id_span = std::variant<std::span<const std::uint32_t>, std::span<const std::uint64_t>,
                             std::span<const std::int32_t>, std::span<const std::int64_t>>;
/// Weights in memory: none, integers or reals. 64-bit integers are stored in 32 bits if none
/// exceeds 2^31 - 1 in size, else as doubles.
using weight_span =
    std::variant<std::monostate, std::span<const std::int32_t>, std::span<const std::int64_t>,
                 std::span<const float>, std::span<const double>>;

/// num_vertices  declared: all ids are below it, and all numbers below it are vertices. If empty, a
///               vertex is an id that occurs on any rank, as in an edge list
/// directed      false: every edge is given once, in either orientation
/// order         see order_kind; order_seed applies to order_kind::random
struct from_edges_options {
  std::optional<std::uint64_t> num_vertices = {};
  bool directed = true;
  build_options build = {};
  order_kind order = order_kind::file;
  std::uint64_t order_seed = 1;
};

/// The graph of edges in memory: edge i goes from sources[i] to targets[i].
///
/// Each rank passes its share of the edges, which may be empty. The graph is the union of the
/// shares and does not depend on their distribution. The spans are copied before the call returns.
///
/// weights   none on every rank, or one per edge and of one type on every rank
/// Work      that of build, and O(edges) to number the vertices
/// Memory    that of build, and per edge 8 bytes (16 for 64-bit ids) and its weight
/// Throws    usage_error, the same on every rank, if the spans differ in length; if an id is
///           negative, 2^64 - 1 or not below num_vertices; if a weight is not finite; if two ranks
///           pass weights of different types; and as build does
/// Collective.
[[nodiscard]] any_graph from_edges(world& w, const id_span& sources, const id_span& targets,
                                   const weight_span& weights = {},
                                   const from_edges_options& options = {});

}  // namespace cairn::graph
