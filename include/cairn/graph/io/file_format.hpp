// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::graph::io {

/// The format of a graph file.
enum class file_format : std::uint8_t {
  edge_list,           ///< .txt .el: "u v" or "u v weight", separated by spaces, tabs or commas
  weighted_edge_list,  ///< .wel: an edge list with mandatory weights
  csv,                 ///< .csv: a header line, then source,target or source,target,weight
  matrix_market,       ///< .mtx: coordinate, square
  dimacs,              ///< .gr .max .col: DIMACS shortest paths, flows, coloring; PACE
  metis,               ///< .graph: adjacency lists
  native,              ///< .cairn: see native.hpp
};

/// The format that the name's ending indicates, without an ending of compression (graph.mtx.gz is
/// matrix_market). Throws input_error, which lists the endings, for any other.
[[nodiscard]] file_format format_of(const std::string& path);

/// `path` without a final .gz, .zst or .xz.
[[nodiscard]] std::string_view without_compression(std::string_view path) noexcept;

}  // namespace cairn::graph::io
