// SPDX-License-Identifier: Apache-2.0
#include "core/launcher.hpp"

#include <array>
#include <charconv>
#include <string_view>

#include <cairn/base/error.hpp>

namespace cairn {
namespace {

struct convention {
  const char* rank;
  const char* size;
  const char* name;
  net::mpi_kind kind;
};

// The first that applies counts: Slurm sets its variables also around a PMI or PMIx of its own.
constexpr std::array<convention, 4> conventions{{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI's mpiexec", net::mpi_kind::openmpi},
    {"PMI_RANK", "PMI_SIZE", "MPICH's mpiexec", net::mpi_kind::mpich},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "srun with PMIx", net::mpi_kind::openmpi},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun", net::mpi_kind::automatic},
}};

rank_t number_in(const char* variable, std::string_view text) {
  rank_t value = -1;
  const auto* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < 0) {
    throw usage_error(std::string(variable) + " should be a number, not '" + std::string(text) +
                      "'");
  }
  return value;
}

}  // namespace

std::optional<launcher> find_launcher(const std::function<const char*(const char*)>& variable) {
  for (const auto& c : conventions) {
    const char* const rank = variable(c.rank);
    const char* const size = variable(c.size);
    if (rank == nullptr || size == nullptr) continue;
    launcher found{c.name, c.kind, number_in(c.rank, rank), number_in(c.size, size)};
    if (found.rank >= found.size) {
      throw usage_error(std::string(c.rank) + " is " + rank + ", but " + c.size + " is " + size);
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace cairn
