// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/core/cluster_costs.hpp>
#include <cairn/core/world.hpp>

namespace cairn::cli {

struct cluster_probe_options {
  std::size_t vertices = std::size_t{1} << 14;  ///< per rank; the default fits a core's cache
  std::size_t degree = 16;
  int rounds = 5;  ///< number of measurements; the minimum is used
};

/// Costs of an edge and a commit on a single rank; the other costs are defaults.
///
/// Runs PageRank by pushes and top-down breadth-first search on a random graph. An edge costs a
/// push; a commit costs the time of a visit beyond its edges. Times are from the world's clock.
///
/// Throws    contract_violation unless there is one rank of one worker
[[nodiscard]] cluster_costs probe_rank(world& w, const cluster_probe_options& options = {});

/// Costs of packets, messages, edges and commits between these two ranks, for a simulated cluster
/// of such ranks.
///
/// Runs the algorithms of probe_rank on graphs whose edges stay on a rank or lead to both. The
/// additional time of the former, compared with one rank, is the cost of an owner lookup; the
/// remaining time of the latter is the cost of a message. Both are averages over the two
/// algorithms. Streams of messages, in full buffers and alone, in both directions and in one, give
/// o and g; ping-pong with two message sizes gives L and G. o is the total cost of a packet at one
/// end, including Cairn's own work; if it includes waiting for the other rank's cache lines, L may
/// be 0. The minimum of a few rounds is the undisturbed time. The speed of a machine also drifts
/// over minutes: alternate probe_rank and probe_cluster and take medians (cluster_costs::median).
/// Times are from the world's clock, so a simulated cluster reports its own settings.
///
/// alone       result of probe_rank; both ranks' results are averaged
/// Returns     the same on both ranks
/// Throws      contract_violation unless there are two ranks of one worker
/// Collective  outside epochs
/// Source      [Alexandrov95] for L, o, g and G
[[nodiscard]] cluster_costs probe_cluster(world& w, const cluster_costs& alone,
                                          const cluster_probe_options& options = {});

}  // namespace cairn::cli
