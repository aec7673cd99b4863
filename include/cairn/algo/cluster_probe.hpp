// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/core/cluster_costs.hpp>
#include <cairn/core/world.hpp>

namespace cairn::algo {

struct cluster_probe_options {
  std::size_t vertices = std::size_t{1} << 14;  ///< of a rank; default fits a core's cache
  std::size_t degree = 16;
  int rounds = 15;  ///< costs are medians of so many passes
};

/// What packets, messages, edges and commits cost between these two ranks, for a simulated
/// cluster of such ranks.
///
/// Runs PageRank by pushes and top-down breadth-first search on graphs drawn at random, whose
/// edges stay on a rank (an edge is a push; a commit what a visit costs beyond its edges) or lead
/// to both (a message is what is left, on average over the two). Streams of messages in full
/// buffers and alone, both ways and one way, give o and g, and messages of two sizes sent to and
/// fro L and G. o is what a packet costs an end in all, Cairn's own work included; where that
/// includes the wait for the other's cache lines, nothing is left for L. What is measured follows
/// each other round by round, so that what disturbs the machine for long disturbs all. The clock
/// is the world's: a simulated cluster finds the costs that it was given.
///
/// Throws    contract_violation unless there are two ranks of one worker
/// Collective: outside epochs. The same result on both ranks.
/// Source    [Alexandrov95] for L, o, g and G
[[nodiscard]] cluster_costs probe_cluster(world& w, const cluster_probe_options& options = {});

}  // namespace cairn::algo
