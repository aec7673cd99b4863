// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <cairn/algo/sssp.hpp>
#include <cairn/core/cluster_costs.hpp>
#include <cairn/core/world.hpp>

#include <bench/harness.hpp>

namespace cairn::bench {

/// Shortest paths from one source on a cluster, for the figures of [DC15].
struct paths_job {
  std::string graph = "kronecker";  ///< or "uniform", of edge factor 16; or "grid", square
  int scale = 14;                   ///< log2 of the vertices
  int longest = 255;                ///< weights are random in 1..longest; 1: breadth-first search
  std::uint64_t seed = 1;           ///< of graph, weights and source
  algo::sssp_method by = algo::sssp_method::distributed_control;
  double delta = 0;  ///< width of a bucket; 0: chosen by the algorithm
  bool sent_filter = true;
  bool sort_received = false;  ///< received buffers are relaxed in the order of distances
  world_options world = {};
  rank_t ranks = 2;
  int repeats = 3;  ///< the time is their median

  [[nodiscard]] nlohmann::json settings() const;
};

/// The result of a job; counts are those of the last repeat, on all ranks.
struct paths_run {
  double seconds = 0;  ///< of the slowest rank, from a barrier on
  std::uint64_t messages = 0;
  std::uint64_t buffers = 0;   ///< excludes those of collectives
  std::uint64_t overflow = 0;  ///< buffers that waited in memory for the transport
  std::uint64_t useful = 0;    ///< relaxations with final distances
  std::uint64_t wasted = 0;    ///< relaxations with distances that were lowered later
  std::uint64_t buckets = 0;   ///< buckets that all ranks processed together
  std::string fault;           ///< the error in the result; empty if none

  /// {"messages", "buffers", "overflow", "useful", "wasted", "buckets"}
  [[nodiscard]] nlohmann::json counts() const;
};

/// Runs a job on single-worker ranks that are threads of this process, after a search that is not
/// timed; with costs, on a simulated cluster that predicts the time. Every repeat is verified,
/// outside the measured time.
[[nodiscard]] paths_run find_paths(const paths_job& job,
                                   const std::optional<cluster_costs>& costs = {});

/// The job over ranks that are threads, as a subject that times itself. `last` outlives it.
[[nodiscard]] subject as_subject(const paths_job& job, paths_run& last);

}  // namespace cairn::bench
