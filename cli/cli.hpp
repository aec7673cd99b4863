// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include <cairn/core/settings.hpp>

#include <CLI/CLI.hpp>

namespace cairn::cli {

/// Options that every command has.
struct common {
  cairn::settings settings;
  bool json = false;   ///< one JSON object on standard output instead of the human report
  bool stats = false;  ///< print the counters too
  bool quiet = false;  ///< no progress, no human report
  std::set<std::string, std::less<>> given = {};  ///< settings that the command line names
};

/// What main() runs once the command line is read; its value is the exit status.
using action = std::function<int()>;

// One per command, in the file of that name: describes the command to `app` and, if it is the
// one that was called, sets `chosen`.
void add_algorithms(CLI::App& app, common& c, action& chosen);  // one per algorithm
void add_info(CLI::App& app, common& c, action& chosen);
void add_generate(CLI::App& app, common& c, action& chosen);
void add_convert(CLI::App& app, common& c, action& chosen);
void add_bench(CLI::App& app, common& c, action& chosen);
void add_machine(CLI::App& app, common& c, action& chosen);
void add_verify(CLI::App& app, common& c, action& chosen);
void add_settings(CLI::App& app, common& c, action& chosen);

/// Adds --json, --stats, --quiet and a --name for each setting of the runtime.
void add_common(CLI::App& command, common& c);

/// Checks that an option's value is a whole number of 64 bits that is not negative, which CLI11
/// would wrap or saturate.
[[nodiscard]] CLI::Validator whole_number();

/// Prints "cairn: sentence" on standard error.
void say(const std::string& sentence);

}  // namespace cairn::cli
