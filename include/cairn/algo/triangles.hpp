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

/// How common neighbors are found.
///
///   natural   rows of the input: each is compared with those of its smaller neighbors. There is no
///             preparation; best for short rows or near neighbors (roads, meshes, hubs of small id)
///   marks     each edge is kept at its endpoint of smaller degree. A row is marked, in a bit set
///             or in vector registers, and the rows of its neighbors are looked up in the marks
///   matrix    as marks, but the rows of the vertices of largest degree are bits of a triangular
///             matrix, of which 64 are tested at once (skewed graphs with long rows)
///
/// `automatic` chooses by a sample of edges, of which it estimates the cost in natural order, and
/// by the lengths of kept rows; several ranks never use the natural order.
enum class triangles_mode { automatic, natural, marks, matrix };
template <>
inline constexpr std::span<const std::string_view> enum_names<triangles_mode> =
    words<"auto", "natural", "marks", "matrix">;

struct triangles_options {
  activity::options activity = {};  ///< unused: each counter has one writer
  bool per_vertex = false;          ///< also count the triangles of each vertex
  triangles_mode mode = triangles_mode::automatic;
};

struct triangles_result {
  std::uint64_t total;                                       ///< each triangle once
  std::optional<pgas::vertex_map<std::uint64_t>> of_vertex;  ///< its sum is three times the total
  triangles_mode mode = triangles_mode::marks;               ///< the mode that was used
  activity::ran ran = {};                                    ///< `why` is the reason for the mode

  static constexpr auto fields() {
    using r = triangles_result;
    return std::tuple(field{"triangles", &r::of_vertex, "number of triangles of the vertex"},
                      field{"total", &r::total, "each triangle once"},
                      field{"mode", &r::mode, "the mode that was used"},
                      field{"ran", &r::ran, "reason for the mode"});
  }
};

/// The number of triangles: sets of three pairwise adjacent vertices. The direction of edges is
/// ignored; duplicate edges count once, self-loops not at all.
///
/// Each triangle is found once: in natural order at its largest vertex, else at its first vertex in
/// the order of (degree, id). In that order each vertex keeps its edges to later vertices, at most
/// sqrt(2 m). Its kept neighbors are marked, and the kept rows of these neighbors are looked up in
/// the marks. On several ranks a vertex's kept row is sent once to each rank that owns one of these
/// neighbors, unless all of those have rows in the matrix, which each rank has.
///
/// Returns     the total, the same on every rank, and counts at their owners; both are determined
/// Work        O(m^1.5) at worst; in natural order O(m^1.5 log m), because hubs' rows are searched
/// Depth       one epoch, in natural order two if an edge is repeated. On several ranks a gather
///             before it, for a matrix two more epochs, and for counts per vertex another one
/// Messages    one gather of all degrees (4 bytes per vertex); the kept row of each vertex once to
///             each other rank that owns one of its entries; those of a matrix to all ranks, in 2
///             bytes per entry
/// Memory      per rank: room for its edges, of which half are kept, 8 bytes per vertex of this
///             rank and 4 per vertex of the graph, n bits per worker; for a matrix at most 64 MiB
///             and 2 bytes per vertex of the graph; in natural order only n bytes per worker; an
///             accumulator_map for counts per vertex
/// Throws      contract_violation for a directed graph without in-edges; for `natural` on several
///             ranks or of a directed graph; for 2^39 edges or more
/// Collective  same options on every rank
/// Source      [Schank05], `forward`; [Beamer15] for the benchmark
template <class Id>
[[nodiscard]] triangles_result triangles(world& w, const graph::dist_csr<Id>& g,
                                         const triangles_options& opt = {});

/// One sentence if `total`, or the count of a vertex if given, is wrong. Counts again by another
/// method: the intersection of each vertex's whole row with that of each neighbor, which finds
/// every triangle six times.
///
/// Work        O(sum over edges of the degrees of both endpoints): much more than counting
/// Messages    each vertex's row to each rank that owns one of its neighbors
/// Throws      contract_violation for a directed graph without in-edges
/// Collective  all ranks
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
