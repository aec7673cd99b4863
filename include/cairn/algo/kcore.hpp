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

struct kcore_options {
  activity::options activity = {};
};

struct kcore_result {
  pgas::vertex_map<std::uint32_t> core;  ///< core number of each vertex
  std::uint64_t largest;                 ///< largest core number: the graph's degeneracy
  std::uint64_t levels;                  ///< number of distinct core numbers
  std::uint64_t rounds;                  ///< supersteps, at least one per level
  activity::ran ran;

  static constexpr auto fields() {
    using r = kcore_result;
    return std::tuple(field{"core", &r::core, "the core number"},
                      field{"largest", &r::largest, "largest core number: the graph's degeneracy"},
                      field{"levels", &r::levels, "number of distinct core numbers"},
                      field{"rounds", &r::rounds, "supersteps, at least one per level"},
                      field{"ran", &r::ran, "mechanism of the degree updates"});
  }
};

/// The core number of every vertex: the largest k such that the vertex belongs to a subgraph in
/// which all degrees are at least k.
///
/// Peeling by levels. Level k removes all vertices whose remaining degree is k, including those
/// whose degree falls to k during the level. A removed vertex sends each neighbor an operator that
/// decrements its degree. The next level is the smallest remaining degree.
///
/// Degrees are those of a simple graph, as in NetworkX: self-loops are ignored, and a repeated edge
/// counts once. In a directed graph in- and out-edges both count, so u -> v and v -> u count as two
/// edges.
///
/// Returns     core numbers at their owners; only `rounds` depends on timing
/// Work        O(n + m): each level scans the remaining vertices, in total the sum of the core
///             numbers; each edge is processed once from each endpoint
/// Depth       per level two small reductions and one superstep, which follows paths of any length;
///             on one rank perhaps several
/// Messages    one per edge to another rank and endpoint, unless the target was removed before
/// Memory      per rank: 8 bytes per vertex, two lists of n/P ids, the vertices of a superstep
/// Throws      contract_violation unless g.has_in()
/// Collective  same options on every rank
/// Source      [Seidman83]; [Kabir17] for parallel peeling by levels with lists per worker
template <class Id>
[[nodiscard]] kcore_result kcore(world& w, const graph::dist_csr<Id>& g,
                                 const kcore_options& opt = {});

/// One sentence if `core` does not hold the core numbers. `core` may have any contents.
///
///   rule 1  a vertex of core number k has k neighbors whose core number is at least k
///   rule 2  after removing all vertices of smaller core numbers, the vertices of core number k can
///           be removed one by one such that each has at most k neighbors left at its removal
///
/// By rule 1 no core number is too large. By rule 2, applied from the smallest core number to the
/// largest, none is too small. Rule 2 needs no levels: a removal affects only neighbors with the
/// same core number, so all core numbers are peeled at once.
///
/// Returns     the same on every rank; of several violations that of the smallest vertex, of rule 1
///             if there is one
/// Work        O(n + m)
/// Messages    per edge one from each endpoint, and another to a vertex of another rank
/// Memory      per rank: 5 bytes per vertex, and the vertices of a superstep
/// Throws      contract_violation unless g.has_in()
/// Collective  all ranks
template <class Id>
[[nodiscard]] std::optional<std::string> verify_kcore(world& w, const graph::dist_csr<Id>& g,
                                                      const pgas::vertex_map<std::uint32_t>& core);

}  // namespace cairn::algo
