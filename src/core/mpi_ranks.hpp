// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <cairn/core/launch.hpp>
#include <cairn/core/settings.hpp>

#include "core/interrupt.hpp"
#include "core/launcher.hpp"

namespace cairn {

/// The body of a rank and its settings.
struct rank_plan {
  settings config;
  rank_body body;
};

/// Runs this process as one rank under mpiexec. Returns the exit status, the same on all ranks.
///
/// Before the bodies run, the ranks agree that each has valid settings, and then that each has its
/// workers and its world. A failure on one rank ends all, and rank 0 reports it. A rank that cannot
/// communicate (no plugin, MPI does not start, or out of memory inside a collective) reports the
/// failure itself and ends the job.
///
/// prepare   returns the plan, or throws for bad settings
/// then      the effect of a second signal that cancels
[[nodiscard]] int run_mpi_ranks(const launcher& started_by,
                                const std::function<rank_plan()>& prepare, const launch_report& say,
                                interrupt_handler::second then);

}  // namespace cairn
