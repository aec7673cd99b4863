// SPDX-License-Identifier: Apache-2.0
#include "core/launcher.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstdio>
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

// The first match counts: Slurm also sets its variables around its own PMI or PMIx.
constexpr std::array<convention, 4> conventions{{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI's mpiexec", net::mpi_kind::openmpi},
    {"PMI_RANK", "PMI_SIZE", "MPICH's mpiexec", net::mpi_kind::mpich},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "srun with PMIx", net::mpi_kind::openmpi},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "srun", net::mpi_kind::automatic},
}};

int number_in(const char* variable, std::string_view text) {
  int value = -1;
  const auto* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < 0) {
    throw usage_error(std::string(variable) + " is '" + std::string(text) + "', expected a number");
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
    if (const char* const pmi = variable("PMI_FD")) found.pmi = number_in("PMI_FD", pmi);
    found.continues_before_end = std::string_view(c.rank).starts_with("OMPI_");
    if (found.rank >= found.size) {
      throw usage_error(std::string(c.rank) + " is " + rank + ", expected less than " + c.size +
                        ", which is " + size);
    }
    return found;
  }
  return std::nullopt;
}

void end_job(const launcher& started_by, int status) noexcept {
  if (started_by.pmi < 0) return;
  // Without an answer the launcher has ended the job, or does not speak PMI 1.
  const auto command = [&](std::string_view line) {
    static_cast<void>(send(started_by.pmi, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    pollfd answer{started_by.pmi, POLLIN, 0};
    std::array<char, 1000> ignored{};
    if (poll(&answer, 1, 1000) == 1) {
      static_cast<void>(recv(started_by.pmi, ignored.data(), ignored.size(), MSG_DONTWAIT));
    }
  };
  std::array<char, 40> abort{};
  std::snprintf(abort.data(), abort.size(), "cmd=abort exitcode=%d\n", status);
  command("cmd=init pmi_version=1 pmi_subversion=1\n");
  command(abort.data());  // has no answer, but also ends this process
}

}  // namespace cairn
