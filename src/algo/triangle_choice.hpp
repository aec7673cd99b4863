// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cairn/algo/triangles.hpp>
#include <cairn/base/contract.hpp>

#include "algo/oriented_rows.hpp"
#include "algo/triangle_matrix.hpp"

namespace cairn::algo {

struct triangle_choice {
  triangles_mode mode;  ///< `automatic` until the kept rows are known
  std::string why;
};

inline void expect_possible(rank_t ranks, bool directed, triangles_mode mode) {
  const bool any_rank = mode == triangles_mode::automatic || mode == triangles_mode::marks;
  CAIRN_EXPECTS(ranks == 1 || any_rank, "natural order and the matrix are for one rank");
  CAIRN_EXPECTS(!directed || mode != triangles_mode::natural,
                "natural order takes the rows of undirected graphs only");
}

/// Vertices that a choice looks at.
inline constexpr std::size_t sampled_vertices = 1024;

/// Whether most edges lead to rows that are in cache because a row near was in use just now.
template <class Id>
[[nodiscard]] bool neighbours_are_near(const graph::csr<Id>& rows) {
  constexpr std::uint64_t near = 1 << 15;  // rows of a few entries that fit a core's cache
  const auto n = rows.num_rows();
  std::uint64_t edges = 0, are_near = 0;
  for (std::uint64_t v = 0; v < n; v += n / sampled_vertices + 1) {
    for (const Id u : rows.neighbors(v)) {
      are_near += (u > v ? u - v : v - u) < near ? 1 : 0;
      ++edges;
    }
  }
  return 2 * are_near >= edges;
}

/// What the rows as they are say. With a mean degree of four a vertex has two smaller neighbours,
/// as few as a triangle takes: natural order then passes most vertices by, and costs less than
/// looking at the degrees of all neighbours. Long rows among short ones would be merged again and
/// again.
template <class Id>
[[nodiscard]] triangle_choice choose_by_rows(world& w, const graph::dist_csr<Id>& g,
                                             triangles_mode asked) {
  constexpr std::uint64_t low_degree = 4, long_row = 64;
  if (asked != triangles_mode::automatic) return {asked, "asked for"};
  if (w.size() > 1) return {triangles_mode::marks, "the rows of several ranks meet in marks"};
  const auto& rows = g.out();
  if (!g.directed() && rows.num_edges() <= low_degree * rows.num_rows() &&
      rows.max_degree() <= long_row && neighbours_are_near(rows)) {
    return {triangles_mode::natural, "rows are short and neighbours near"};
  }
  return {triangles_mode::automatic, {}};
}

/// A sample of kept edges.
template <class Id>
struct kept_sample {
  std::vector<Id> ends;            // where the rows' entries lead
  double row = 0, row_at_end = 0;  // mean length of the row of an edge's first and second vertex
};
template <class Id>
[[nodiscard]] kept_sample<Id> sample_of(const oriented_rows<Id>& rows) {
  kept_sample<Id> s;
  for (std::size_t v = 0; v < rows.size(); v += rows.size() / sampled_vertices + 1) {
    const auto row = rows.row(v);
    for (const Id u : row) {
      s.ends.push_back(u);
      s.row += static_cast<double>(row.size());
      s.row_at_end += static_cast<double>(rows.row(u).size());
    }
  }
  const auto edges = static_cast<double>(std::max<std::size_t>(1, s.ends.size()));
  s.row /= edges;
  s.row_at_end /= edges;
  return s;
}

/// The matrix, if it is asked for or worth it, of vertices chosen; says so in `choice`. Marks cost
/// an edge the length of the row at its end, in bits that are looked up one by one; the matrix the
/// words in which the row at its beginning has bits, from farther away in memory.
template <class Id>
[[nodiscard]] std::optional<triangle_matrix<Id>> choose_by_kept_rows(world& w,
                                                                     const oriented_rows<Id>& rows,
                                                                     triangle_choice& choice) {
  constexpr double long_row = 32, entries_per_word = 0.7, bits = 64;
  const auto s = sample_of(rows);
  const auto lookups = static_cast<double>(rows.num_edges()) * s.row_at_end;
  // Its words are to be few beside what is looked up: most^2 / 128 of them.
  const auto most = static_cast<std::size_t>(
      std::min(2 * std::sqrt(lookups), double{triangle_matrix<Id>::most_vertices}));
  const bool asked = choice.mode == triangles_mode::matrix;
  const auto length = std::to_string(static_cast<std::uint64_t>(s.row_at_end));
  if (choice.mode == triangles_mode::automatic) {
    choice = {triangles_mode::marks, "kept rows of " + length + " entries at the ends of edges"};
    const auto words = std::min(s.row, static_cast<double>(rows.size()) / bits + 1);
    if (s.row_at_end < long_row || entries_per_word * words > s.row_at_end) return std::nullopt;
  } else if (!asked) {
    return std::nullopt;
  }
  std::optional<triangle_matrix<Id>> matrix(std::in_place, w, rows, most);
  if (asked) {
    matrix->fill(w);
    return matrix;
  }
  if (2 * matrix->num_chosen(s.ends) < s.ends.size()) {
    choice.why += ", most of vertices whose degree is not among the largest";
    return std::nullopt;
  }
  matrix->fill(w);
  choice = {triangles_mode::matrix, "kept rows of " + length + " entries, most of the " +
                                        std::to_string(matrix->size()) +
                                        " vertices of largest degree"};
  return matrix;
}

}  // namespace cairn::algo
