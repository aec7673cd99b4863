// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <functional>
#include <span>
#include <string>

#include <cairn/core/settings.hpp>
#include <cairn/core/world.hpp>

namespace cairn {

/// Called with one sentence for the user when a job fails: once per job, in one of its processes.
/// Also called with the report of a rank's watchdog, which has several lines: in the rank's
/// process, by a thread of its own (settings::watchdog_ms).
using launch_report = std::function<void(const std::string& sentence)>;

/// The body that every rank runs. It returns the exit status; ranks should agree on it.
using rank_body = std::function<int(world&)>;
/// A body that also receives the program's arguments that are not Cairn's.
using program_body = std::function<int(world&, std::span<const std::string> arguments)>;

/// Runs `body` on every rank that `config` and the launcher's environment specify. Returns the exit
/// status: 0, or that of the rank that failed first (2 for bad usage or bad input, 1 for
/// everything else), or the value of the body. A cancelled run has 128 + the signal's number, 124
/// after settings::timeout_ms, else 130.
///
/// SIGINT or SIGTERM to any process of the job cancels its world. A second one, at least 0.2 s
/// later, kills the process by the default action. The handlers are installed during the call,
/// except for ignored signals. If several runs overlap in one process, one inside another's body or
/// in another thread, only the first is interruptible. A signal has no effect after the bodies of
/// all ranks have ended.
///
/// A simulated cluster runs in this thread. Under mpiexec this process is one rank. With ranks > 1
/// and no launcher this process runs no rank: it forks one child per rank, and ends all children
/// when one dies, when a signal ends this process, or when one still runs five seconds after this
/// process got a signal that cancels, or after the time limit. run() does not return in the
/// children. Otherwise this process is the only rank.
///
/// An exception that leaves a body makes every blocking call of the other ranks throw peer_failure.
/// run() must be called before the process has threads.
[[nodiscard]] int run(const settings& config, const rank_body& body, const launch_report& say);

/// Prints the sentence on standard error.
inline void say_on_stderr(const std::string& sentence) {
  std::fprintf(stderr, "%s\n", sentence.c_str());
}

/// run() for a main(): settings come from the environment and then from the program's options. The
/// body receives the arguments that are not settings.
[[nodiscard]] int launch(int argc, char** argv, const program_body& body,
                         const launch_report& say = say_on_stderr);

/// The same for a program that takes no other arguments: an unknown argument is a usage error.
[[nodiscard]] int launch(int argc, char** argv, const rank_body& body,
                         const launch_report& say = say_on_stderr);

/// Why something that this process printed on standard output cannot be written, as a sentence;
/// empty: all of it has been written. Local ranks report it themselves.
[[nodiscard]] std::string output_fault();

/// False only if a launcher has started this process as another rank than the first. For work that
/// is done once per job and needs no ranks. Does not start MPI.
/// Throws    usage_error if the launcher's variables are invalid
[[nodiscard]] bool is_first_process();

/// Whether an MPI launcher has started this process.
/// Throws    usage_error if the launcher's variables are invalid
[[nodiscard]] bool is_launched();

/// Replaces run() in a program that cannot use its arguments: reports `sentence` once for all
/// ranks, even if other ranks could run. Returns 2.
[[nodiscard]] int refuse(const std::string& sentence, const launch_report& say);

}  // namespace cairn
