// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cairn/graph/io/edge_lines.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::io {

// A METIS file has a list for each vertex, so each undirected edge occurs twice. Two conventions
// are ambiguous and only counting decides them. Some programs write directed graphs; then the
// header counts list entries, not half of them. Format 100 means "a size before each list" to
// METIS, but "loops and parallel edges may occur" to the DIMACS challenge and others.

/// One interpretation of a METIS file.
struct list_reading {
  bool sizes = false;     ///< the number before each list is the vertex's size
  bool directed = false;  ///< every list entry is a separate edge
};

/// Counts of parsed lists, summed over blocks and ranks by +=.
struct list_counts {
  std::uint64_t lists = 0;    ///< vertex lines, including blank ones
  std::uint64_t entries = 0;  ///< in all lists
  std::uint64_t upper = 0;    ///< entries v in the list of u with u < v
  std::uint64_t loops = 0;    ///< entries with u = v
  /// Sum modulo 2^64 of hashes of the edges {u, v}: added for u < v, subtracted for u > v. Zero if
  /// every edge is in the lists of both its ends with the same weight.
  std::uint64_t balance = 0;

  list_counts& operator+=(const list_counts& other) noexcept {
    lists += other.lists;
    entries += other.entries;
    upper += other.upper;
    loops += other.loops;
    balance += other.balance;
    return *this;
  }
};

struct parsed_lists {
  edge_block edges;
  list_counts counts;
};

/// The number of vertex lines in the text: all lines except comments.
[[nodiscard]] std::uint64_t count_lists(std::string_view text) noexcept;

/// Parses the lists of vertices `first`, first + 1, ... Keeps the entries with u <= v, or all
/// entries if `reading` is directed.
///
/// Throws    text_fault for the first line that does not match the layout in this reading
[[nodiscard]] parsed_lists parse_lists(std::string_view text, std::uint64_t first,
                                       const text_layout& layout, list_reading reading,
                                       bool real_weights, parse_scratch& scratch);

/// Whether the sums over the whole file agree with a reading.
enum class list_verdict {
  fits,
  fits_with_double_loops,  ///< every loop occurs twice in its list: see drop_half_of_loops
  contradicts,             ///< the sums contradict the header or each other
};
[[nodiscard]] list_verdict judge(const list_counts& counts, const text_layout& layout,
                                 list_reading reading) noexcept;

/// Explains why the undirected reading contradicts the header; the end of a sentence.
[[nodiscard]] std::string contradiction(const list_counts& counts, const text_layout& layout);

/// Drops the second of every two equal loops of a vertex; a vertex has all its loops in one block.
/// Returns false if a loop has no equal one.
[[nodiscard]] bool drop_half_of_loops(edge_block& block);

/// Writes a METIS file (.graph), compressed if its name's ending says so.
///
/// Throws    usage_error if the name has another ending, if the ids are not 1 .. n, if there is no
///           vertex, if the graph is directed or has self-loops or parallel edges, if weights are
///           not integers from 1, or if the file cannot be written; system_failure if writing fails
/// Called by worker 0 of one rank.
void write_metis(task::pool& workers, const std::string& path, const native_graph& g);

}  // namespace cairn::graph::io
