// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::graph::io {

/// How a graph is written in a file.
enum class file_format : std::uint8_t {
  edge_list,           ///< .txt .el: "u v" or "u v weight" by spaces, tabs or commas
  weighted_edge_list,  ///< .wel: the same, and the weight must be there
  csv,                 ///< .csv: a header line, then source,target or source,target,weight
  matrix_market,       ///< .mtx: coordinate, square
  dimacs,              ///< .gr .max: 9th DIMACS challenge, its flows, PACE's graphs
  metis,               ///< .graph: adjacency lists
  native,              ///< .cairn: see native.hpp
};

/// The format by the name's ending, below an ending of compression (graph.mtx.gz is
/// matrix_market). Throws input_error, which lists the endings, for any other.
[[nodiscard]] file_format format_of(const std::string& path);

/// `path` without a last .gz, .zst or .xz.
[[nodiscard]] std::string_view without_compression(std::string_view path) noexcept;

}  // namespace cairn::graph::io
