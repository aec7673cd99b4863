// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <cairn/core/world.hpp>

#include <bench/argument_list.hpp>
#include <bench/harness.hpp>

namespace cairn::bench {

/// The main() of a benchmark of one rank: reads --runs, --warm-ups, --min-seconds and --lines
/// FILE (JSON lines are added to it; "-": standard output) and what `add_options` adds, then
/// calls body, which prints a table for people to standard error.
///
/// Returns   0; 1 after one sentence if a result was wrong or something failed; 2 for a command
///           line that cannot be used
int run_program(int argc, char** argv, const char* description,
                const std::function<void(argument_list&)>& add_options,
                const std::function<void(harness&)>& body);

/// The main() of a benchmark over ranks: takes Cairn's settings (--ranks, --threads, ...) as
/// well, and calls body on every rank, under mpiexec too. The harnesses call a kernel equally
/// often on all ranks; rank 0's writes lines. Verdicts must be those of all ranks.
///
/// Returns   as run_program
int run_program_on_ranks(int argc, char** argv, const char* description,
                         const std::function<void(argument_list&)>& add_options,
                         const std::function<void(world&, harness&)>& body);

/// Summed over workers and ranks. Collective.
[[nodiscard]] counter_totals counters_of_all(world& w);

}  // namespace cairn::bench
