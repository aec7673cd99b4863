// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/algo/mst_edge.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

namespace cairn::algo {

/// How trees of several ranks merge along their lightest outgoing edges.
///
///   hooking       each root points at the root at the other end of its edge
///   transactions  two roots merge by a transaction over their ranks (dtx::executor)
///   automatic     hooking, which was faster on every measured graph (docs/algo.md)
enum class mst_merge { automatic, hooking, transactions };
template <>
inline constexpr std::span<const std::string_view> enum_names<mst_merge> =
    words<"auto", "hooking", "transactions">;

struct mst_options {
  activity::options activity = {};
  mst_merge merge = mst_merge::automatic;  ///< if there are several ranks
};

template <class Id>
struct mst_result {
  std::vector<mst_edge<Id>> edges;  ///< edges whose source this rank owns, ascending
  std::uint64_t num_edges;          ///< on all ranks
  std::uint64_t num_trees;          ///< including isolated vertices
  double weight;                    ///< of all edges, on all ranks
  std::uint64_t rounds;
  activity::ran ran;
  std::string_view merge;         ///< activities (one rank), hooking or transactions
  std::string_view merge_chosen;  ///< reason for the choice

  static constexpr auto fields() {
    using r = mst_result;
    return std::tuple(field{"weight", &r::weight, "total weight"},
                      field{"edges", &r::num_edges, "number of edges"},
                      field{"trees", &r::num_trees, "number of trees, including isolated vertices"},
                      field{"rounds", &r::rounds, "rounds of merging over all ranks"},
                      field{"merge", &r::merge, "how trees merged"},
                      field{"merge_chosen", &r::merge_chosen, "reason for the merge method"},
                      field{"ran", &r::ran, "mechanism of the lightest outgoing edges"});
  }
};

/// A minimum spanning forest: for each component a spanning tree of minimum total weight.
///
/// Boruvka's algorithm. In each round every tree finds its lightest outgoing edge and joins the
/// tree at its other end. Edges are ordered by weight, then smaller endpoint, then larger endpoint.
/// No two edges are equal, so no cycle forms and the forest is determined. Each vertex sends its
/// lightest outgoing edge to the root of its tree, which keeps the minimum; a vertex inside its
/// tree is not looked at again. On one rank activities over the two roots then merge the trees. On
/// several ranks either the same operator runs by dtx::executor, or each root points at the root at
/// the other end of its edge; if two roots point at each other, the smaller stays root. Then paths
/// to the roots are shortened by pointer jumping. By hooking, ranks first merge the trees whose
/// lightest edges lead to trees of the same rank, without messages.
///
/// In a graph without weights each edge has weight 1.
///
/// Returns     edges at the owners of their sources. All but mechanism and grain is determined;
///             sums of real weights up to rounding
/// Work        O(m log n)
/// Depth       at most log2 n rounds; on several ranks each has O(log n) epochs
/// Messages    on several ranks, per round: two per distinct remote neighbor, or a gather of n ids
///             if ranks have on the mean an eighth of all vertices as such neighbors; one edge per
///             vertex that is not inside its tree; two per root looked up on the paths; with
///             transactions also those of dtx::executor for each merge
/// Memory      per rank: n/P records of 32 bytes, n/P ids and lists of n/P ids, with transactions
///             n/P more ids and markers of 8 bytes; the edges of the forest, twice at the end, with
///             8 bytes per vertex; an id and a root per vertex of another rank that has an edge to
///             this one, or, if gathered, 2 n ids for all ranks of one machine, on several machines
///             n per rank; at the start n bits, or for each of these vertices up to 8 ids per
///             worker
/// Throws      contract_violation if the graph is directed; usage_error as activity::domain, and if
///             a merge method for several ranks is requested on one rank; input_error that names
///             the heaviest edge if the total weight exceeds the largest double
/// Collective  same options on every rank
/// Source      [Boruvka26]; [AAM15] section 3.2.2 for activities that may fail, here the
///             merge of two roots; section 4.3 for transactions; hooking is ours
template <class Id>
[[nodiscard]] mst_result<Id> mst(world& w, const graph::dist_csr<Id>& g,
                                 const mst_options& opt = {});

extern template mst_result<std::uint32_t> mst(world&, const graph::dist_csr<std::uint32_t>&,
                                              const mst_options&);
extern template mst_result<std::uint64_t> mst(world&, const graph::dist_csr<std::uint64_t>&,
                                              const mst_options&);

}  // namespace cairn::algo
