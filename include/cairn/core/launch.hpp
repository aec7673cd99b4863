// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <functional>
#include <span>
#include <string>

#include <cairn/core/settings.hpp>
#include <cairn/core/world.hpp>

namespace cairn {

/// Told the one sentence for a person when a job ends badly: once per job, in one of its
/// processes.
using launch_report = std::function<void(const std::string& sentence)>;

/// What every rank runs. Its value is the exit status; ranks should agree on it.
using rank_body = std::function<int(world&)>;
/// The same, with the arguments of the program that were not Cairn's.
using program_body = std::function<int(world&, std::span<const std::string> arguments)>;

/// Runs `body` on every rank that `how` and the launcher's environment ask for, and returns
/// the exit status: 0, or that of the rank that failed first (2 for bad usage or bad input,
/// 130 if it was cancelled, 1 for everything else), or what the body returned.
///
/// SIGINT to any process of the job cancels its world; a second one kills it by the default action.
/// The handler is installed for the length of the call, unless SIGINT is ignored. Of several runs
/// in one process at a time, one inside another's body or in another thread, the first is
/// interruptible. A SIGINT that comes when the bodies of all ranks have ended changes nothing.
///
/// A simulated cluster runs in this thread. Under mpiexec this process is one rank. With
/// ranks > 1 and no launcher this process runs no rank: it forks one child per rank, and ends
/// them all when one dies or when a signal ends it; the children do not return from
/// here. Else this process is the only rank.
///
/// An exception that leaves a body makes every blocking call of the other ranks throw
/// peer_failure. Call it before the process has threads.
[[nodiscard]] int run(const settings& how, const rank_body& body, const launch_report& say);

/// The report that most programs want: the sentence, on standard error.
inline void say_on_stderr(const std::string& sentence) {
  std::fprintf(stderr, "%s\n", sentence.c_str());
}

/// run() for a main(): settings come from the environment and then from the program's options,
/// of which the body gets what is not a setting.
[[nodiscard]] int launch(int argc, char** argv, const program_body& body,
                         const launch_report& say = say_on_stderr);

/// The same for a program that takes no other arguments: one that is given is a usage error.
[[nodiscard]] int launch(int argc, char** argv, const rank_body& body,
                         const launch_report& say = say_on_stderr);

/// True unless a launcher has started this process as another rank than the first: for what is
/// done once per job and needs no ranks. No MPI is started.
/// Throws    usage_error if the launcher's variables make no sense
[[nodiscard]] bool is_first_process();

/// Whether an MPI launcher has started this process.
/// Throws    usage_error if the launcher's variables make no sense
[[nodiscard]] bool is_launched();

/// Instead of run(), for a program that cannot use what it was told: `sentence` is said once for
/// all ranks, also for those that would run. Returns 2.
[[nodiscard]] int refuse(const std::string& sentence, const launch_report& say);

}  // namespace cairn
