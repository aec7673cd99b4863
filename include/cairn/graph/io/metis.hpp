// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <cairn/graph/io/edge_lines.hpp>

namespace cairn::graph::io {

// A METIS file holds a list for each vertex and so each undirected edge twice. Two habits make
// it ambiguous, and only counting tells: some programs write directed graphs (then the header
// counts list entries, not half of them), and format 100 means "a size before each list" to
// METIS but "loops and parallel edges may occur" to the DIMACS challenge and others.

/// One way to read a METIS file.
struct list_reading {
  bool sizes = false;     ///< a number before each list is the vertex's size
  bool directed = false;  ///< every list entry is an edge of its own
};

/// What lists held; sums over blocks and ranks. Combined by +=.
struct list_counts {
  std::uint64_t lists = 0;    ///< lines of vertices, blank ones too
  std::uint64_t entries = 0;  ///< in all lists
  std::uint64_t upper = 0;    ///< entries v in the list of u with u < v
  std::uint64_t loops = 0;    ///< with u = v
  /// Hashes of the edges {u, v} added for u < v and subtracted for u > v, modulo 2^64: zero if
  /// every edge stands in both its ends' lists with the same weight.
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

/// Lines of vertices in the text: all but comments.
[[nodiscard]] std::uint64_t count_lists(std::string_view text) noexcept;

/// Parses the lists of vertices `first`, first + 1, ... Keeps the entries with u <= v, or all of
/// them if `reading` says directed.
///
/// Throws    text_fault for the first line that does not fit the layout read this way
[[nodiscard]] parsed_lists parse_lists(std::string_view text, std::uint64_t first,
                                       const text_layout& layout, list_reading reading,
                                       bool real_weights, parse_scratch& scratch);

/// What the sums over the whole file say about a reading.
enum class list_verdict {
  fits,
  fits_with_double_loops,  ///< every loop stands twice in its list: see drop_half_of_loops
  contradicts,             ///< the header, or itself
};
[[nodiscard]] list_verdict judge(const list_counts& counts, const text_layout& layout,
                                 list_reading reading) noexcept;

/// Why the undirected reading contradicts the header; a sentence's end.
[[nodiscard]] std::string contradiction(const list_counts& counts, const text_layout& layout);

/// Drops every second loop of each vertex. A vertex's loops are in one block.
void drop_half_of_loops(edge_block& block);

}  // namespace cairn::graph::io
