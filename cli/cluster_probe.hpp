// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/core/cluster_costs.hpp>
#include <cairn/core/world.hpp>

namespace cairn::cli {

struct cluster_probe_options {
  std::size_t vertices = std::size_t{1} << 14;  ///< of a rank; default fits a core's cache
  std::size_t degree = 16;
  int rounds = 5;  ///< the fastest counts
};

/// What an edge and a commit cost this rank, which has no peers; the other costs are defaults.
///
/// Runs PageRank by pushes and top-down breadth-first search on a graph drawn at random: an edge is
/// a push, a commit what a visit costs beyond its edges. The clock is the world's.
///
/// Throws    contract_violation unless there is one rank of one worker
[[nodiscard]] cluster_costs probe_rank(world& w, const cluster_probe_options& options = {});

/// What packets, messages, edges and commits cost between these two ranks, for a simulated
/// cluster of such ranks.
///
/// Runs the same on graphs whose edges stay on a rank (an edge's owner is what they cost more than
/// on one rank) or lead to both (a message is what is left), each on average over the two
/// algorithms. Streams of messages in full buffers and alone, both ways and one way, give o and g,
/// and messages of two sizes sent to and fro L and G. o is what a packet costs an end in all,
/// Cairn's own work included; where that includes the wait for the other's cache lines, nothing is
/// left for L. The fastest of a few rounds is what undisturbed ranks take; a machine has fast and
/// slow minutes all the same, so probe one rank and two by turns and take medians
/// (cluster_costs::median). The clock is the world's: a simulated cluster finds the costs that it
/// was given.
///
/// alone     what probe_rank found; the mean of both ranks' counts
/// Throws    contract_violation unless there are two ranks of one worker
/// Collective: outside epochs. The same result on both ranks.
/// Source    [Alexandrov95] for L, o, g and G
[[nodiscard]] cluster_costs probe_cluster(world& w, const cluster_costs& alone,
                                          const cluster_probe_options& options = {});

}  // namespace cairn::cli
