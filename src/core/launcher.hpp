// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <cairn/net/mpi.hpp>

namespace cairn {

/// What started this process as one rank of several, as its environment tells.
struct launcher {
  std::string name;    ///< for people: "Open MPI's mpiexec"
  net::mpi_kind kind;  ///< the MPI it speaks; automatic: it does not say
  rank_t rank = 0;
  rank_t size = 1;
  int pmi = -1;  ///< descriptor on which it takes commands of PMI 1, if any
};

/// Reads what mpiexec, or a batch system, left in the environment; nothing if nobody did.
///
/// A launcher counts even if no plugin can speak to it: else N processes would each run the
/// whole job, silently.
///
/// Throws    usage_error if the variables are there but make no sense
[[nodiscard]] std::optional<launcher> find_launcher(
    const std::function<const char*(const char*)>& variable);

/// Asks the launcher to end all ranks with `status`: some go on when one rank leaves before it
/// has started MPI, while the others wait for it. Nothing if it takes no commands.
void end_job(const launcher& started_by, int status) noexcept;

}  // namespace cairn
