// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include <cairn/core/world.hpp>

#include <CLI/CLI.hpp>
#include <bench/harness.hpp>

namespace cairn::bench {

/// The main() of a benchmark of one rank: reads --runs, --warm-ups, --least-seconds and --lines
/// FILE (JSON lines are added to it; "-": standard output) and what `add_options` adds, then
/// calls body, which prints a table for people to standard error.
///
/// Returns   0; 1 after one sentence if a result was wrong or something failed; 2 for a command
///           line that cannot be used
int run_program(int argc, char** argv, const char* description,
                const std::function<void(CLI::App&)>& add_options,
                const std::function<void(harness&)>& body);

/// The main() of a benchmark over ranks: takes Cairn's settings (--ranks, --threads, ...) as
/// well, and calls body on every rank, under mpiexec too. The harnesses call a kernel equally
/// often on all ranks; rank 0's writes lines. Verdicts must be those of all ranks.
///
/// Returns   as run_program
int run_program_on_ranks(int argc, char** argv, const char* description,
                         const std::function<void(CLI::App&)>& add_options,
                         const std::function<void(world&, harness&)>& body);

/// Adds an option whose value lies in [range.first, range.second]; --help shows its default.
template <class Number>
void add_number(CLI::App& app, const std::string& name, Number& value,
                std::type_identity_t<std::pair<Number, Number>> range, const std::string& meaning) {
  app.add_option(name, value, meaning)
      ->check(CLI::Range(range.first, range.second))
      ->capture_default_str();
}

/// Summed over workers and ranks. Collective.
[[nodiscard]] counter_totals counters_of_all(world& w);

}  // namespace cairn::bench
