// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/text_source.hpp>
#include <cairn/graph/io/weight_rule.hpp>

namespace cairn::graph::io {

enum class symmetry : std::uint8_t { general, symmetric, skew };

/// Properties of a text file that its beginning determines.
struct text_layout {
  file_format format = file_format::edge_list;
  std::uint64_t data_offset = 0;          ///< behind the header, for "p max" also the terminals
  std::uint64_t header_offset = 0;        ///< where the line with the declared counts begins
  std::optional<std::uint64_t> vertices;  ///< declared
  std::optional<std::uint64_t> entries;   ///< declared: lines, or for METIS undirected edges
  symmetry sides = symmetry::general;
  bool weighted = false;          ///< every edge has a weight
  bool edgeless = false;          ///< an edge list or CSV file without edges
  weight_rule weights;            ///< lines with other weights are faults
  bool undirected = false;        ///< DIMACS "p tw" and "p edge": each line is an undirected edge
  char line_letter = 0;           ///< DIMACS: begins each edge's line, 'a' or 'e'; 0: none
  std::string_view ignored = {};  ///< DIMACS: letters that begin other lines
  bool vertex_sizes = false;      ///< METIS: a size may precede each list (see metis.hpp)
  std::uint64_t vertex_weights = 0;  ///< METIS: numbers that precede each list

  /// 1 for formats that count vertices from 1.
  [[nodiscard]] std::uint64_t first_id() const noexcept { return vertices ? 1 : 0; }
};

/// Reads the header of a file. For an edge list it counts the columns of the first edge.
///
/// Memory    for a compressed file, at most 32 MiB
/// Throws    input_error if the first 32 MiB contain no valid header, and no edge of an edge list
[[nodiscard]] text_layout read_layout(text_source& source, file_format format,
                                      bool text_ids = false);

/// Parses the beginning of a file's text; `whole`: it is the whole text.
///
/// text_ids  ids of an edge list or CSV file are words
/// Returns   nothing if the header does not end within `head`
/// Throws    text_fault
[[nodiscard]] std::optional<text_layout> parse_layout(std::string_view head, bool whole,
                                                      file_format format, bool text_ids = false);

}  // namespace cairn::graph::io
