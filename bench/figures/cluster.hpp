// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <cairn/core/cluster_costs.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

#include <bench/harness.hpp>

namespace cairn::bench {

/// A job on a cluster: a top-down search, or sweeps of PageRank by pushes, on a Kronecker graph.
struct cluster_job {
  bool pagerank = false;
  int scale = 14;
  std::uint64_t seed = 1;    ///< of graph and source
  int sweeps = 5;            ///< for PageRank
  bool sent_filter = false;  ///< for a search
  bool reduce = false;       ///< for PageRank: at the sender; else one message per edge
  std::size_t coalesce_bytes = 4080;
  cairn::routing routing = cairn::routing::automatic;
  int repeats = 1;  ///< the time is their median

  [[nodiscard]] const char* name() const noexcept { return pagerank ? "pagerank" : "bfs"; }
};

/// The result of a job; counters are those of the last repeat.
struct cluster_run {
  double seconds = 0;                   ///< of the slowest rank, from a barrier on
  std::vector<std::uint64_t> messages;  ///< on all ranks, by level; PageRank: one sum
  std::uint64_t buffers = 0;  ///< with messages; excludes those of collectives and other protocols
  std::vector<std::vector<std::uint64_t>> bytes;  ///< by sender and receiver, up to 64 ranks
  std::string fault;                              ///< the error in the result; empty if none
};

/// Runs a job on single-worker ranks that are threads of this process, over rings.
[[nodiscard]] cluster_run run_here(const cluster_job& job, rank_t ranks);

/// Runs a job on a simulated cluster with predicted times.
[[nodiscard]] cluster_run predict(const cluster_job& job, rank_t ranks, const cluster_costs& costs);

/// A random vertex that has an edge; the same on every rank. Collective.
[[nodiscard]] std::uint32_t random_source(world& w, const graph::dist_csr<std::uint32_t>& g,
                                          std::uint64_t seed);

/// Runs body on single-worker ranks that are threads of this process, over rings; each on a core of
/// its own if there are enough.
///
/// Throws    the first exception of a body
void run_on_threads(rank_t ranks, const world_options& options,
                    const std::function<void(world&)>& body);

/// Runs body on a simulated cluster whose clock predicts; a buffer is a packet as over rings.
void run_predicted(rank_t ranks, const world_options& options, const cluster_costs& costs,
                   const std::function<void(world&)>& body);

/// What one of several ranks has sent between two readings of its counters.
struct sent_counts {
  std::uint64_t messages = 0;
  std::uint64_t buffers = 0;  ///< excludes those of collectives and other protocols
};
[[nodiscard]] sent_counts sent_between(const counter_totals& before, const counter_totals& after);

/// The costs on ranks that are threads of this process.
[[nodiscard]] cluster_costs costs_here();

}  // namespace cairn::bench
