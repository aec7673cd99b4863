// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <bench/harness.hpp>

namespace cairn::bench {

/// The folder that this program lies in, where the other benchmarks are.
[[nodiscard]] std::string program_folder();

/// How to start a baseline by each MPI, built as NAME_<mpi> beside this program: "mpiexec.<mpi> -n
/// RANKS <path>". Those are left out that were not found when it was built, or have no mpiexec.
[[nodiscard]] std::vector<std::string> mpi_commands(const std::string& name, int ranks);

/// The JSON lines that a command prints on standard output.
/// Throws    wrong_result if its status is not 0, which it also is for a wrong result
[[nodiscard]] std::vector<nlohmann::json> json_lines_of(const std::string& command);

/// A command as a subject that times itself: a run is a process, whose time is the median of
/// `seconds` of the lines that it prints. Each line must have a true `verified`.
[[nodiscard]] subject process(const std::string& name, nlohmann::json settings,
                              const std::string& command);

}  // namespace cairn::bench
