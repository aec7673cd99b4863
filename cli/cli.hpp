// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/core/settings.hpp>
#include <cairn/core/world.hpp>

#include <CLI/CLI.hpp>

namespace cairn::cli {

/// Options that every command has.
///
/// printed  JSON objects on standard output so far: of a simulation of several seeds they are the
///          elements of an array
struct common {
  cairn::settings settings;
  bool json = false;   ///< one JSON object on standard output instead of the human report
  bool stats = false;  ///< print the counters too
  bool quiet = false;  ///< no progress, no human report
  std::set<std::string, std::less<>> given = {};  ///< settings that the command line names
  std::shared_ptr<int> printed = std::make_shared<int>(0);
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

/// Settings of the runtime by what they are about.
///
/// workers     threads, pin
/// processes   ranks, transport, mpi, plugins, machines
/// simulation  sim
/// messages    coalesce, coalesce-age, routing, pending
/// filter      filter: of commands that send operators' messages
/// operators   mechanism, grain, retry, costs: of commands that run operators
enum class knobs : std::uint8_t { workers, processes, simulation, messages, filter, operators };

/// The names of all settings of these kinds.
[[nodiscard]] std::vector<std::string_view> settings_of(std::initializer_list<knobs> kinds);

[[nodiscard]] std::vector<std::string_view> all_settings();

/// What add_common adds.
///
/// settings  names of those that the command uses: any other is a usage error
/// stats     --stats: the command counts something
/// quiet     --quiet: the command prints a report or progress beside what it is called for
struct common_parts {
  std::vector<std::string_view> settings;
  bool stats = true;
  bool quiet = true;
};

/// Adds --json and these parts.
void add_common(CLI::App& command, common& c, const common_parts& parts);

/// Refuses settings that the command line names and that its other settings leave without effect:
/// --grain by a mechanism without transactions, --pin of a simulated cluster, --mpi without
/// mpiexec. Settings that only several ranks need are never refused: a script runs on any number.
///
/// Throws    usage_error
void expect_effect(const common& c);

/// Checks that an option's value is a whole number of 64 bits that is not negative, which CLI11
/// would wrap or saturate.
[[nodiscard]] CLI::Validator whole_number();

/// Prints "cairn: sentence" on standard error.
void say(const std::string& sentence);

}  // namespace cairn::cli
