// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <cairn/core/launch.hpp>

#include "core/interrupt.hpp"
#include "core/launcher.hpp"

namespace cairn {

/// Runs a rank that a launcher has started in a child process of this one, and returns its exit
/// status. If a signal ends the child, reports which rank that was and by which signal, and ends
/// the job: launchers do not all name the rank. A child whose parent is killed reports that.
///
/// SIGINT and SIGTERM are passed on; a second one, SIGHUP or SIGQUIT kills the child and then this
/// process. So does the first one if the child does not end within `patience`, as in MPI_Init if
/// another rank never gets there. Where no child can be started, runs the rank in this process.
///
/// rank_main   called with the effect of a second signal, before the process has threads and
///             before it has started MPI; does not throw. Its result is the exit status of the
///             process in which it runs
[[nodiscard]] int run_supervised(const launcher& started_by,
                                 const std::function<int(interrupt_handler::second)>& rank_main,
                                 const launch_report& say);

}  // namespace cairn
