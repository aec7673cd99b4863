// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <cairn/net/mpi.hpp>

namespace cairn {

/// The launcher that started this process as one of several ranks, according to the environment.
struct launcher {
  std::string name;    ///< for messages: "Open MPI's mpiexec"
  net::mpi_kind kind;  ///< the MPI that it uses; automatic: unknown
  rank_t rank = 0;
  rank_t size = 1;
  int pmi = -1;  ///< descriptor for PMI 1 commands, if any
  /// It ends a job by SIGCONT, one second later SIGTERM, then SIGKILL.
  bool continues_before_end = false;
};

/// Reads the variables that mpiexec or a batch system has set; returns nothing if there are none.
///
/// A launcher counts even if no plugin supports it: otherwise N processes would each run the whole
/// job, silently.
///
/// Throws    usage_error if the variables are invalid
[[nodiscard]] std::optional<launcher> find_launcher(
    const std::function<const char*(const char*)>& variable);

/// Asks the launcher to end all ranks with `status`: some launchers continue when a rank exits
/// before it has started MPI, while the others wait for it. No effect if the launcher takes no
/// commands.
void end_job(const launcher& started_by, int status) noexcept;

}  // namespace cairn
