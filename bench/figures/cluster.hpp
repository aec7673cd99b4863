// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cairn/core/cluster_costs.hpp>
#include <cairn/core/world.hpp>

namespace cairn::bench {

/// What runs on a cluster: a top-down search, or sweeps of PageRank by pushes, on a Kronecker
/// graph.
struct cluster_job {
  bool pagerank = false;
  int scale = 14;
  std::uint64_t seed = 1;    ///< of graph and source
  int sweeps = 5;            ///< of PageRank
  bool sent_filter = false;  ///< of a search
  bool reduce = false;       ///< of PageRank, at the sender; else a message for each edge
  std::size_t coalesce_bytes = 4080;
  int repeats = 1;  ///< one after another; the time is the median

  [[nodiscard]] const char* name() const noexcept { return pagerank ? "pagerank" : "bfs"; }
};

/// How it went, the last time for what is counted.
struct cluster_run {
  double seconds = 0;                   ///< of the slowest rank, from a barrier on
  std::vector<std::uint64_t> messages;  ///< by level; of PageRank all in one; of all ranks
  std::uint64_t buffers = 0;            ///< with messages, so not those of collectives
  std::string fault;                    ///< why the result is wrong; or empty
};

/// On ranks of one worker that are threads here, over rings.
[[nodiscard]] cluster_run run_here(const cluster_job& job, rank_t ranks);

/// On a simulated cluster that predicts.
[[nodiscard]] cluster_run predict(const cluster_job& job, rank_t ranks, const cluster_costs& costs);

/// What work costs on ranks that are threads here.
[[nodiscard]] cluster_costs costs_here();

}  // namespace cairn::bench
