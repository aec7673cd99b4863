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
///   afforest     each rank builds trees of its vertices from the edges whose endpoints it owns,
///                most of which it need not read; then the trees of the ranks are joined in the
///                same way
///   propagation  every vertex sends its neighbors the smallest label it has received
///   automatic    afforest
enum class components_method { automatic, afforest, propagation };
template <>
inline constexpr std::span<const std::string_view> enum_names<components_method> =
    words<"auto", "afforest", "propagation">;

struct components_options {
  activity::options activity = {};  ///< of method propagation
  components_method method = components_method::automatic;
};

template <class Id>
struct components_result {
  pgas::vertex_map<Id> label;    ///< the smallest vertex id in its component
  std::uint64_t num_components;  ///< including isolated vertices
  std::uint64_t largest;         ///< number of vertices of the largest component
  std::uint64_t rounds;          ///< epochs of messages between ranks
  components_method method;      ///< never automatic
  activity::ran ran;             ///< mechanism by which trees are joined or labels lowered

  static constexpr auto fields() {
    using r = components_result;
    return std::tuple(
        field{"component", &r::label, "the smallest vertex id in its component", 0,
              value_kind::classes},
        field{"components", &r::num_components,
              "number of components, including isolated vertices"},
        field{"largest", &r::largest, "number of vertices of the largest component"},
        field{"rounds", &r::rounds, "epochs of messages between ranks"},
        field{"method", &r::method, "how components were found"},
        field{"ran", &r::ran, "mechanism by which trees are joined or labels lowered"});
  }
};

/// Weakly connected components: for each vertex the smallest vertex id in its component, ignoring
/// the direction of edges.
///
/// Afforest joins trees in which a parent is smaller than its children, so that a root is the
/// smallest vertex of its tree. Every vertex first joins two of its neighbors. In most graphs one
/// component then holds most vertices. A sample identifies that component, and only vertices of
/// other components process their remaining edges. (In a directed graph without in-rows all
/// vertices do.) Several ranks join their trees along the edges between ranks likewise: first along
/// the ends of the rows of a sample and of all vertices outside a rank's largest tree. To join two
/// trees, a message climbs to the roots; pointer jumping then gives each former root its label.
///
/// With propagation, in each round a vertex whose label was lowered sends it to its neighbors.
/// After every eighth round the trees that labels form are joined and flattened.
///
/// Returns     labels at their owners; labels, number and sizes are determined, rounds are not
/// Work        afforest: O(n + m) at worst, usually O(n); propagation: O(m) per round
/// Depth       afforest: two epochs, in which a join passes each rank at most once, and at most
///             some 2 log n for pointer jumping.
///             propagation: an epoch per round; at most as many rounds as the longest shortest
///             path, and usually at most some 8 log n
/// Messages    afforest: usually at most a few per vertex outside the largest tree of its rank, and
///             1,000 per rank; at worst P for each edge to another rank.
///             propagation: per round one for each edge to another rank from a vertex whose label
///             was lowered, unless the sender has already sent that target as low a label; after
///             every eighth at most one per vertex, and two per label of another rank and level of
///             a tree
/// Memory      per rank: n/P ids; for afforest on several ranks also the former roots, parents on
///             other ranks, the vertices outside the rank's largest tree, and 1 MiB per worker; for
///             propagation two bits and an id per vertex, and the labels of other ranks
/// Throws      contract_violation if propagation is requested and the graph is directed without
///             in-rows; usage_error as activity::executor for propagation
/// Collective  same options on every rank
/// Source      [Sutton18] for the sampling; [Patwary10] (Rem's algorithm) for joining trees;
///             [AAM15] section 3.2.2 for messages that may fail, here if a label is not lower.
///             Joins over several ranks are ours, as are the joined trees of labels
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
