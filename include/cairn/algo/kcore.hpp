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
  pgas::vertex_map<std::uint32_t> core;  ///< of each vertex
  std::uint64_t largest;                 ///< core number: the graph's degeneracy
  std::uint64_t levels;                  ///< different core numbers
  std::uint64_t rounds;                  ///< supersteps, several a level
  activity::ran ran;

  static constexpr auto fields() {
    using r = kcore_result;
    return std::tuple(field{"core", &r::core, "the core number"},
                      field{"largest", &r::largest, "core number: the graph's degeneracy"},
                      field{"levels", &r::levels, "different core numbers"},
                      field{"rounds", &r::rounds, "supersteps, several a level"},
                      field{"ran", &r::ran, "how degrees were lowered"});
  }
};

/// The core number of every vertex: the largest k such that the vertex belongs to a subgraph in
/// which all degrees are at least k.
///
/// Peeling by levels. Level k removes all vertices whose remaining degree is k, and those whose
/// degree falls to k meanwhile: a vertex that is removed tells its neighbours, which lose an edge
/// each, by an operator on the degree. The next level is the least degree that remains.
///
/// Degrees are those of a simple graph, as NetworkX has them: self-loops are ignored, and an edge
/// that occurs several times counts once. Of a directed graph in- and out-edges count together, so
/// that u -> v and v -> u are two.
///
/// Returns    core numbers at their owners; only `rounds` depends on timing
/// Work       O(n + m): a level looks at the vertices that remain, which number the sum of the
///            core numbers in all, and at each edge once from each end
/// Depth      per level at least two small reductions and a superstep; a superstep goes any number
///            of edges deep where the vertices are own
/// Messages   one per edge to another rank and end, unless its vertex was removed before
/// Memory     per rank: 8 bytes per own vertex, two lists of n/P ids, the vertices of a superstep
/// Throws     contract_violation unless g.has_in()
/// Collective: same options on every rank.
/// Source     S. B. Seidman, Network structure and minimum degree, 1983; peeling in parallel by
///            levels, with lists of each worker's own, is H. Kabir, K. Madduri, Parallel k-core
///            decomposition on multicore platforms, 2017
template <class Id>
[[nodiscard]] kcore_result kcore(world& w, const graph::dist_csr<Id>& g,
                                 const kcore_options& opt = {});

/// One sentence if `core` does not hold the core numbers; any contents are judged.
///
///   rule 1  a vertex of core number k has k neighbours whose core number is at least k
///   rule 2  where vertices of smaller core numbers are gone and those of greater ones stay, the
///           vertices of core number k can be removed one after the other such that none has more
///           than k neighbours left
///
/// By rule 1 no number is too large, by rule 2, from the least number to the greatest, none is too
/// small. Rule 2 needs no levels: a removal matters to neighbours of the same core number alone, so
/// all numbers are peeled at once.
///
/// Returns   the same on every rank; of several violations that of the least vertex
/// Work      O(n + m)
/// Messages  per edge one from each end, and another if both ends have the same core number
/// Memory    per rank: 5 bytes per own vertex, and the vertices of a superstep
/// Throws    contract_violation unless g.has_in()
/// Collective.
template <class Id>
[[nodiscard]] std::optional<std::string> verify_kcore(world& w, const graph::dist_csr<Id>& g,
                                                      const pgas::vertex_map<std::uint32_t>& core);

}  // namespace cairn::algo
