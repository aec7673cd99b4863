// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <cairn/core/cluster_costs.hpp>
#include <cairn/core/world.hpp>

#include <bench/harness.hpp>

namespace cairn::bench {

/// A program of examples/models over global arrays, or Cairn's own of the same purpose, on a graph.
/// For the figures of [GMT14].
struct tasks_job {
  enum class program { bfs_by_tasks, bfs, walks_by_tasks, walks };
  program which = program::bfs_by_tasks;
  std::string file;  ///< a graph; empty: a uniform random one
  int scale = 12, edge_factor = 16;
  std::uint64_t seed = 1;  ///< of graph, source and walks
  std::uint64_t length = 40;
  std::size_t tasks = 4'096;  ///< of a worker
  std::size_t coalesce_bytes = 0;
  rank_t ranks = 2;
  int repeats = 3;  ///< the time is their median

  [[nodiscard]] const char* name() const noexcept;
  [[nodiscard]] bool by_tasks() const noexcept {
    return which == program::bfs_by_tasks || which == program::walks_by_tasks;
  }
  [[nodiscard]] bool searches() const noexcept {
    return which == program::bfs_by_tasks || which == program::bfs;
  }
  /// Cairn's own program of the same purpose.
  [[nodiscard]] program own() const noexcept { return searches() ? program::bfs : program::walks; }
};

/// The result of a job; counts are those of the last repeat, on all ranks.
struct tasks_run {
  double seconds = 0;  ///< of the slowest rank, from a barrier on
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;  ///< visited by the search, or followed by walkers
  std::uint64_t messages = 0, buffers = 0;
  std::string fault;  ///< the error in the result; empty if none

  /// {"vertices", "edges", "messages", "buffers"}
  [[nodiscard]] nlohmann::json counts() const;
};

/// Runs a job on single-worker ranks that are threads of this process; with costs, on a simulated
/// cluster that predicts the time. Each repeat is compared with the other program of its purpose,
/// and the other is verified, outside the time.
[[nodiscard]] tasks_run run_job(const tasks_job& job,
                                const std::optional<cluster_costs>& costs = {});

/// The job over ranks that are threads, as a subject that times itself. `last` outlives it.
[[nodiscard]] subject as_subject(const tasks_job& job, tasks_run& last);

/// The id of the vertex that searches of a job start from.
[[nodiscard]] std::uint64_t source_of(const tasks_job& job);

}  // namespace cairn::bench
