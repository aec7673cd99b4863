// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tests/support/temporary_folder.hpp>

#include <nlohmann/json.hpp>

#include <bench/figures/tasks.hpp>

namespace cairn::bench {

/// The graph of a job and the result of Cairn's own program on it, as files that a baseline reads.
/// The graph is the uniform random one, whatever job.file is.
class job_files {
 public:
  explicit job_files(const tasks_job& job);

  [[nodiscard]] std::string graph() const { return folder_ / "graph.el"; }
  /// The options by which a baseline reads the files and repeats the job.
  [[nodiscard]] const std::string& options() const noexcept { return options_; }

 private:
  support::temporary_folder folder_;
  std::string options_;
};

/// Measures a job by tasks, Cairn's own program of the same purpose and, where there is MPI, a
/// baseline, in turn.
///
/// baseline  its name, as mpi_commands() takes it; the MPI that runs it fastest is measured
/// by_tasks  the last run of the job
/// Returns   {"seconds", "cairn_seconds"}; with MPI also "mpi_seconds" and, by pairs, the ratios of
///           that time to both others, "mpi" and "mpi_by_cairn"
[[nodiscard]] nlohmann::json measure_beside(harness& h, const tasks_job& job,
                                            const std::string& baseline, const job_files& files,
                                            tasks_run& by_tasks);

}  // namespace cairn::bench
