// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

namespace cairn::algo {

/// How trees of several ranks merge along their lightest edges.
///
///   hooking       each root points at the root that its edge leads to
///   transactions  two roots become one by a transaction over their ranks (dtx::executor)
///   automatic     hooking, which took less time on every graph that was measured (docs/algo.md)
enum class mst_merge { automatic, hooking, transactions };
template <>
inline constexpr std::span<const std::string_view> words_of<mst_merge> =
    words<"auto", "hooking", "transactions">;

struct mst_options {
  activity::options activity = {};
  mst_merge merge = mst_merge::automatic;  ///< where there are several ranks
};

/// An edge of the forest; source < target.
template <class Id>
struct mst_edge {
  Id source, target;
  double weight;

  friend bool operator==(const mst_edge&, const mst_edge&) = default;
};

template <class Id>
struct mst_result {
  std::vector<mst_edge<Id>> edges;  ///< those whose source this rank owns, ascending
  std::uint64_t num_edges;          ///< on all ranks
  std::uint64_t num_trees;          ///< an isolated vertex is one
  double weight;                    ///< of all edges, on all ranks
  std::uint64_t rounds;
  activity::ran ran;
  std::string_view merge;  ///< how trees merged: activities (one rank), hooking, transactions
  std::string_view merge_chosen;  ///< why so

  static constexpr auto fields() {
    using r = mst_result;
    return std::tuple(
        field{"weight", &r::weight, "of all edges"}, field{"edges", &r::num_edges, "of the forest"},
        field{"trees", &r::num_trees, "an isolated vertex is one"},
        field{"rounds", &r::rounds, "of merging"}, field{"merge", &r::merge, "how trees merged"},
        field{"merge_chosen", &r::merge_chosen, "why so"},
        field{"ran", &r::ran, "how lightest edges were offered"});
  }
};

/// A minimum spanning forest: of each component a tree of least total weight.
///
/// Boruvka. In each round every tree finds its lightest edge to another tree and joins along it.
/// Edges are ordered by weight, then by smaller end, then by larger, so that no two are equal,
/// no cycle forms, and the forest is determined. A vertex offers its lightest edge out of its
/// tree to the tree's root, whose record keeps the lightest. On one rank trees are then merged
/// by activities over the two roots. Over ranks either the same operator runs by dtx::executor, or
/// a root points at the root that its edge leads to, and of two that point at each other the
/// smaller stays root. Then paths are halved by asking.
///
/// Edges of a graph without weights count 1 each.
///
/// Returns   edges at the owners of their sources; all but mechanism and grain is determined,
///           sums of real weights but for rounding
/// Work      O(m log n);  Depth  at most log2 n rounds, each of O(log n) epochs over ranks
/// Messages  over ranks, per round: two per vertex of another rank that an own edge leads to, one
///           offer per vertex, and two per root asked for on the paths; by transactions also those
///           of dtx::executor for each merge
/// Memory    per rank: n/P records of 32 bytes and n/P ids, by transactions n/P more ids and
///           markers of 8 bytes; the forest's edges
/// Throws    contract_violation if the graph is directed; usage_error as activity::domain, and if
///           a merge over ranks is asked for and there is one rank
/// Collective: same options on every rank.
/// Source    O. Boruvka (1926); [AAM15] section 3.2.2 for activities that may fail, as merging two
///           roots does; section 4.3 for transactions; hooking is ours.
template <class Id>
[[nodiscard]] mst_result<Id> mst(world& w, const graph::dist_csr<Id>& g,
                                 const mst_options& opt = {});

extern template mst_result<std::uint32_t> mst(world&, const graph::dist_csr<std::uint32_t>&,
                                              const mst_options&);
extern template mst_result<std::uint64_t> mst(world&, const graph::dist_csr<std::uint64_t>&,
                                              const mst_options&);

}  // namespace cairn::algo
