// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <bench/harness.hpp>

namespace cairn::bench {

/// The folder of this program and the other benchmarks.
[[nodiscard]] std::string program_folder();

/// The command of a baseline with each MPI, built as NAME_<mpi> beside this program: "mpiexec.<mpi>
/// -n RANKS <path>". Omits MPIs that were not found at build time or have no mpiexec.
[[nodiscard]] std::vector<std::string> mpi_commands(const std::string& name, int ranks);

/// The JSON lines that a command prints on standard output.
/// Throws    wrong_result if its status is not 0, which includes wrong results
[[nodiscard]] std::vector<nlohmann::json> json_lines_of(const std::string& command);

/// A command as a subject that times itself. A run is a process; its time is the median of
/// `seconds` over the lines that it prints. Each line must have a true `verified`.
[[nodiscard]] subject process(const std::string& name, nlohmann::json settings,
                              const std::string& command);

}  // namespace cairn::bench
