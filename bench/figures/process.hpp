// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <bench/harness.hpp>

namespace cairn::bench {

/// The folder of this program and the other benchmarks.
[[nodiscard]] std::string program_folder();

/// The command of a baseline with each MPI, built as NAME_<mpi> beside this program: "mpiexec.<mpi>
/// -n RANKS <path>". Omits MPIs that were not found at build time or have no mpiexec.
[[nodiscard]] std::vector<std::string> mpi_commands(const std::string& name, int ranks);

/// A command did not run to its end; what() names it.
class failed_process : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The JSON lines that a command prints on standard output.
/// Throws    wrong_result if a line has a false `verified`; else failed_process if the status is
///           not 0
[[nodiscard]] std::vector<nlohmann::json> json_lines_of(const std::string& command);

/// A command as a subject that times itself. A run is a process; its time is the median of
/// `seconds` over the lines that it prints. Each line must have a true `verified`.
[[nodiscard]] subject process(const std::string& name, nlohmann::json settings,
                              const std::string& command);

/// The command whose median time over three alternating runs is shortest. Commands that do not run
/// to their end are left out. Empty if none does.
/// Throws    wrong_result
[[nodiscard]] std::string fastest_command(const std::vector<std::string>& commands);

}  // namespace cairn::bench
