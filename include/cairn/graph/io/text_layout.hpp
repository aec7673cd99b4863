// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/text_source.hpp>

namespace cairn::graph::io {

enum class symmetry : std::uint8_t { general, symmetric, skew };

/// What the beginning of a text file says about the rest of it.
struct text_layout {
  file_format format = file_format::edge_list;
  std::uint64_t data_offset = 0;          ///< where the first line behind the header begins
  std::uint64_t header_offset = 0;        ///< where the line of the declared counts begins
  std::optional<std::uint64_t> vertices;  ///< declared
  std::optional<std::uint64_t> entries;   ///< declared: lines, or for METIS undirected edges
  symmetry sides = symmetry::general;
  bool weighted = false;             ///< every edge has a weight
  bool undirected = false;           ///< DIMACS: "p tw", lines "u v", each an undirected edge
  bool flow = false;                 ///< DIMACS: "p max", lines "n ID s|t" between the arcs
  bool vertex_sizes = false;         ///< METIS: a number before each list, perhaps (see metis.hpp)
  std::uint64_t vertex_weights = 0;  ///< METIS: numbers before each list

  /// 1 for formats that count vertices from 1.
  [[nodiscard]] std::uint64_t first_id() const noexcept { return vertices ? 1 : 0; }
};

/// Reads the header of a file, and of an edge list the number of columns from its first edge.
///
/// Memory    of a compressed file, 32 MiB at most
/// Throws    input_error if there is no header, or none that can be used, in the first 32 MiB; if
///           an edge list has no edge.
[[nodiscard]] text_layout read_layout(text_source& source, file_format format,
                                      bool text_ids = false);

/// The same for the text of a file's beginning, `whole` if nothing follows.
///
/// text_ids  ids of an edge list or CSV file are words
/// Returns   nothing if the header does not end within `head`
/// Throws    text_fault
[[nodiscard]] std::optional<text_layout> parse_layout(std::string_view head, bool whole,
                                                      file_format format, bool text_ids = false);

}  // namespace cairn::graph::io
