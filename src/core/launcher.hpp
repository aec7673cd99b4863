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
};

/// Reads what mpiexec, or a batch system, left in the environment; nothing if nobody did.
///
/// A launcher counts even if no plugin can speak to it: else N processes would each run the
/// whole job, silently.
///
/// Throws    usage_error if the variables are there but make no sense
[[nodiscard]] std::optional<launcher> find_launcher(
    const std::function<const char*(const char*)>& variable);

}  // namespace cairn
