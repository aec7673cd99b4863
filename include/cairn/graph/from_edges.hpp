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

/// Ids of vertices in memory: 32 or 64 bits, signed (as NumPy's are by default) or not.
using id_span = std::variant<std::span<const std::uint32_t>, std::span<const std::uint64_t>,
                             std::span<const std::int32_t>, std::span<const std::int64_t>>;
/// Weights in memory: none, whole numbers or real ones. 64-bit whole numbers that fit are kept as
/// 32-bit ones, others become real.
using weight_span =
    std::variant<std::monostate, std::span<const std::int32_t>, std::span<const std::int64_t>,
                 std::span<const float>, std::span<const double>>;

/// num_vertices  declared: ids are below it, and all of them are vertices; nothing: a vertex is an
///               id that occurs on any rank, as in an edge list
/// directed      false: every edge is given once, either way
/// order         see order_kind; of order_kind::random by order_seed
struct from_edges_options {
  std::optional<std::uint64_t> num_vertices = {};
  bool directed = true;
  build_options build = {};
  order_kind order = order_kind::file;
  std::uint64_t order_seed = 1;
};

/// The graph of edges in memory: edge i goes from sources[i] to targets[i].
///
/// Each rank gives its share, perhaps none; the shares together are the graph, however they are
/// dealt. The spans are read and copied before the call returns.
///
/// weights   none on every rank, or one per edge and of one type on every rank
/// Work      that of build, and O(edges) for the numbering
/// Memory    that of build, with 8 bytes an edge (16 where ids need 64 bits) and its weight
/// Throws    usage_error, the same on every rank, if spans differ in length, ids are negative,
///           2^64 - 1 or not below num_vertices, weights are not finite or of different types on
///           two ranks; and as build does
/// Collective.
[[nodiscard]] any_graph from_edges(world& w, const id_span& sources, const id_span& targets,
                                   const weight_span& weights = {},
                                   const from_edges_options& options = {});

}  // namespace cairn::graph
