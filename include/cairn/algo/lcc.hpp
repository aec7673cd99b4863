// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

struct lcc_options {
  activity::options activity = {};  ///< unused: each counter has one writer
};

struct lcc_result {
  pgas::vertex_map<double> coefficient;  ///< in [0, 1]
  double mean;                           ///< over all vertices
  activity::ran ran;                     ///< `why` says how triangles were counted

  static constexpr auto fields() {
    using r = lcc_result;
    return std::tuple(field{"lcc", &r::coefficient, "the local clustering coefficient"},
                      field{"mean", &r::mean, "mean coefficient of all vertices"},
                      field{"ran", &r::ran, "how triangles were counted"});
  }
};

/// The local clustering coefficient of every vertex (LCC of LDBC Graphalytics): the share of
/// ordered pairs of its neighbors that an edge joins from the first to the second.
///
/// A vertex with d neighbors has d (d - 1) such pairs. In a directed graph the ends of its
/// in-edges and out-edges are its neighbors, each once. An undirected edge joins both ordered
/// pairs of its ends, so the coefficient is 2 T / (d (d - 1)) for T triangles. With d < 2 it is 0.
/// Duplicate edges count once, self-loops not at all.
///
/// In undirected graphs triangles() counts per vertex. In directed graphs each triangle is found
/// once, as by triangles(), and its vertices get the number of edges between the other two. The
/// pairs with edges in both directions are kept a second time, and are marked apart.
///
/// Returns     coefficients at their owners, determined; each is a quotient of integers. The
///             mean depends on ranks and workers in its last bits
/// Work        that of triangles() per vertex; in directed graphs up to twice that
/// Messages    those of triangles() per vertex; in directed graphs also the second row, and another
///             gather of all degrees
/// Memory      that of triangles() per vertex, without its counts for directed graphs twice
/// Throws      as triangles()
/// Collective  same options on every rank
/// Source      [Graphalytics], LCC; [Watts98]
template <class Id>
[[nodiscard]] lcc_result lcc(world& w, const graph::dist_csr<Id>& g, const lcc_options& opt = {});

/// One sentence if a coefficient differs from the true one by more than 1e-9 of it. Counts again by
/// intersecting the targets of each vertex with the rows of its neighbors.
///
/// coefficient  any contents
/// Returns      the same on every rank; of several violations one of the first rank that has any
/// Work         O(sum over edges of the degrees of both ends): much more than lcc()
/// Messages     each vertex's row and targets to each rank that owns one of its neighbors
/// Throws       contract_violation for a directed graph without in-edges
/// Collective   all ranks
template <class Id>
[[nodiscard]] std::optional<std::string> verify_lcc(world& w, const graph::dist_csr<Id>& g,
                                                    const pgas::vertex_map<double>& coefficient);

}  // namespace cairn::algo
