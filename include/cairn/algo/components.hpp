// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// How components are found.
///
///   afforest     each rank joins its own vertices into trees along the edges whose two ends it
///                owns, most of them unseen; then the roots' labels travel between ranks
///   propagation  every vertex tells its neighbours the least label it has heard of
///   automatic    afforest
enum class components_method { automatic, afforest, propagation };
template <>
inline constexpr std::span<const std::string_view> words_of<components_method> =
    words<"auto", "afforest", "propagation">;

struct components_options {
  activity::options activity = {};  ///< of the labels that travel
  components_method method = components_method::automatic;
};

template <class Id>
struct components_result {
  pgas::vertex_map<Id> label;    ///< the smallest vertex of its component
  std::uint64_t num_components;  ///< an isolated vertex is one
  std::uint64_t largest;         ///< vertices of the largest
  std::uint64_t rounds;          ///< epochs in which labels travelled
  components_method method;      ///< never automatic
  activity::ran ran;             ///< how the labels travelled

  static constexpr auto fields() {
    using r = components_result;
    return std::tuple(
        field{"component", &r::label, "the smallest vertex of its component", 0, holds::classes},
        field{"components", &r::num_components, "an isolated vertex is one"},
        field{"largest", &r::largest, "vertices of the largest"},
        field{"rounds", &r::rounds, "epochs in which labels travelled"},
        field{"method", &r::method, "how they were found"},
        field{"ran", &r::ran, "how the labels travelled"});
  }
};

/// Weakly connected components: of each vertex the smallest vertex that it is connected to, the
/// direction of edges ignored.
///
/// Afforest joins trees whose parents are smaller than their children, so that a root is its
/// component's smallest vertex. Every vertex first joins two of its neighbours; after that one
/// component holds most vertices of most graphs. Which one it is a sample tells, and only the
/// other vertices look at the rest of their edges. (A directed graph without in-rows looks at
/// all of them.) On several ranks the roots then form a graph of their own, whose edges are the
/// pairs of roots that some edge of the graph joins, and labels travel along those alone, as in
/// propagation: level by level, a label that is lower than the one it finds goes on.
///
/// Returns   labels at their owners; labels, number and sizes are determined, rounds are not
/// Work      afforest: O(n + m) at worst, usually O(n); propagation: O(m) a round
/// Depth     one epoch a round; rounds: at most the longest shortest path between roots
///           (afforest) or vertices (propagation)
/// Messages  one per round from each vertex whose label fell along each edge to another rank,
///           unless the sender has told that vertex of as low a label; afforest: once and for
///           all one per vertex and root of another rank that an edge joins, then as many fewer
///           as there are fewer roots
/// Memory    per rank: n/P ids, a bit per own vertex on several ranks; afforest on several
///           ranks: n/P ids more, and the pairs of joined roots
/// Throws    contract_violation if propagation is asked for and the graph is directed and has no
///           in-rows; usage_error as activity::executor
/// Collective: same options on every rank.
/// Source    [Sutton18] for the sampling; [Patwary10] (Rem's algorithm) for joining trees;
///           [AAM15] section 3.2.2 for messages that may fail, as labels that are not lower do;
///           the graph of roots is ours.
template <class Id>
[[nodiscard]] components_result<Id> components(world& w, const graph::dist_csr<Id>& g,
                                               const components_options& opt = {});

extern template components_result<std::uint32_t> components(world&,
                                                            const graph::dist_csr<std::uint32_t>&,
                                                            const components_options&);
extern template components_result<std::uint64_t> components(world&,
                                                            const graph::dist_csr<std::uint64_t>&,
                                                            const components_options&);

}  // namespace cairn::algo
