// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// How common neighbours are found.
///
///   natural   rows as they are: each is merged with those of its smaller neighbours. Nothing is
///             prepared, which suits short rows whose neighbours are near (roads, grids)
///   marks     each edge is kept at its end of smaller degree; a row is marked, by a bit per
///             vertex or in a vector register, and its neighbours' rows are looked up in the marks
///   matrix    the same, but the rows of the vertices of largest degree are bits of a triangular
///             matrix, 64 of which are looked up at once (skewed graphs with long rows)
///
/// `automatic` chooses by degrees, locality and the lengths of kept rows; several ranks use marks.
enum class triangles_mode { automatic, natural, marks, matrix };
template <>
inline constexpr std::span<const std::string_view> words_of<triangles_mode> =
    words<"auto", "natural", "marks", "matrix">;

struct triangles_options {
  activity::options activity = {};  ///< each count has one writer: nothing runs as an activity
  bool per_vertex = false;          ///< also how many triangles each vertex is in
  triangles_mode mode = triangles_mode::automatic;
};

struct triangles_result {
  std::uint64_t total;                                       ///< each triangle once
  std::optional<pgas::vertex_map<std::uint64_t>> of_vertex;  ///< sums to three times the total
  triangles_mode mode = triangles_mode::marks;               ///< that counted
  activity::ran ran = {};                                    ///< `why` says why that mode

  static constexpr auto fields() {
    using r = triangles_result;
    return std::tuple(field{"triangles", &r::of_vertex, "that the vertex is in"},
                      field{"total", &r::total, "each triangle once"},
                      field{"mode", &r::mode, "that counted"},
                      field{"ran", &r::ran, "why that mode"});
  }
};

/// The number of triangles: of sets of three vertices each two of which are joined by an edge.
/// The edges of a directed graph count both ways; double edges count once, self-loops never.
///
/// Each triangle is found once, at the first of its vertices in the order of (degree, id): that
/// keeps the edges that lead up in this order, at most sqrt(2 m) a vertex, marks the neighbours of
/// a vertex and looks the rows of these neighbours up in the marks. On several ranks a vertex's
/// kept row travels once to each rank that owns one of the neighbours.
///
/// Returns    the total, the same on every rank, and counts at their owners; both are determined
/// Work       O(m^1.5) at worst
/// Messages   one gather of all degrees (4 bytes a vertex); one record for each vertex and each
///            other rank that owns neighbours in its kept row: that row
/// Memory     per rank: the kept half of its edges, 8 bytes an own vertex and 4 for each of all n,
///            n bits per worker; the matrix up to 64 MB; an accumulator_map for counts per vertex
/// Throws     contract_violation for a directed graph without in-edges; for `natural` and `matrix`
///            on several ranks, and `natural` of a directed graph; from 2^39 edges on
/// Collective: same options on every rank.
/// Source     Schank and Wagner (2005), `forward`; [Beamer15] for the benchmark.
template <class Id>
[[nodiscard]] triangles_result triangles(world& w, const graph::dist_csr<Id>& g,
                                         const triangles_options& opt = {});

/// One sentence if `total`, or the count of a vertex where they are given, is wrong. Counts again
/// by another method: for each vertex, what its whole row has in common with that of each of its
/// neighbours, where every triangle is found six times.
///
/// Work       O(sum over edges of the degrees of both ends): much more than counting
/// Messages   each vertex's row to each rank that owns one of its neighbours
/// Throws     contract_violation for a directed graph without in-edges
/// Collective.
template <class Id>
[[nodiscard]] std::optional<std::string> verify_triangles(
    world& w, const graph::dist_csr<Id>& g, std::uint64_t total,
    const pgas::vertex_map<std::uint64_t>* of_vertex = nullptr);

extern template triangles_result triangles(world&, const graph::dist_csr<std::uint32_t>&,
                                           const triangles_options&);
extern template triangles_result triangles(world&, const graph::dist_csr<std::uint64_t>&,
                                           const triangles_options&);
extern template std::optional<std::string> verify_triangles(world&,
                                                            const graph::dist_csr<std::uint32_t>&,
                                                            std::uint64_t,
                                                            const pgas::vertex_map<std::uint64_t>*);
extern template std::optional<std::string> verify_triangles(world&,
                                                            const graph::dist_csr<std::uint64_t>&,
                                                            std::uint64_t,
                                                            const pgas::vertex_map<std::uint64_t>*);

}  // namespace cairn::algo
