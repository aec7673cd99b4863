// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

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

}  // namespace cairn::bench
