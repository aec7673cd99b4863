// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <cairn/core/launch.hpp>
#include <cairn/core/settings.hpp>

#include "core/launcher.hpp"

namespace cairn {

/// What a rank runs, and how.
struct rank_plan {
  settings how;
  rank_body body;
};

/// Runs this process as one rank under mpiexec, and returns its exit status, the same as that of
/// all ranks.
///
/// Before bodies run the ranks agree that each has its settings, and then that each has its
/// workers and its world; what fails on one rank ends all, and rank 0 says why. A rank that
/// cannot speak to the others (it finds no plugin, MPI does not start, or memory ends inside a
/// collective) says so itself and ends the job.
///
/// prepare   gives the plan, or throws for bad settings
[[nodiscard]] int run_mpi_ranks(const launcher& started_by,
                                const std::function<rank_plan()>& prepare,
                                const launch_report& say);

}  // namespace cairn
