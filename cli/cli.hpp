// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
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
/// printed  number of JSON objects printed to standard output. With several simulated seeds the
///          objects are elements of an array
struct common {
  cairn::settings settings;
  bool json = false;       ///< print one JSON object instead of the human-readable report
  bool stats = false;      ///< also print the counters
  bool quiet = false;      ///< no progress, no human-readable report
  std::string trace = {};  ///< the file of --trace; empty: none
  std::set<std::string, std::less<>> given = {};  ///< settings that the command line names
  std::shared_ptr<int> printed = std::make_shared<int>(0);
};

/// The command to run, set while main() parses the command line; returns the exit status.
using action = std::function<int()>;

// One function per command, in the file of that name. It describes the command to `app` and sets
// `chosen` if the command was called.
void add_algorithms(CLI::App& app, common& c, action& chosen);  // one per algorithm
void add_info(CLI::App& app, common& c, action& chosen);
void add_generate(CLI::App& app, common& c, action& chosen);
void add_convert(CLI::App& app, common& c, action& chosen);
void add_bench(CLI::App& app, common& c, action& chosen);
void add_machine(CLI::App& app, common& c, action& chosen);
void add_verify(CLI::App& app, common& c, action& chosen);
void add_graphalytics(CLI::App& app, common& c, action& chosen);
void add_hashmap(CLI::App& app, common& c, action& chosen);
void add_settings(CLI::App& app, common& c, action& chosen);

/// Groups of runtime settings.
///
/// workers     threads, timeout, watchdog, pin
/// processes   ranks, transport, mpi, plugins, machines
/// simulation  sim
/// messages    coalesce, coalesce-age, routing, pending, progress, helpers, command-block,
///             queue-age, channel-blocks
/// tasks       loop-tasks, prefetching; for commands that run tasks
/// arrays      share-gets; for programs that access global arrays, as no command does
/// filter      filter; for commands that send operators' messages
/// operators   mechanism, grain, retry, costs, deliver, frequency, lead; for commands that run
///             operators
enum class setting_group : std::uint8_t {
  workers,
  processes,
  simulation,
  messages,
  tasks,
  arrays,
  filter,
  operators
};

/// The names of all settings in these groups.
[[nodiscard]] std::vector<std::string_view> settings_of(std::initializer_list<setting_group> kinds);

/// The names of the settings of commands that run algorithms: all groups except `tasks` and
/// `arrays`.
[[nodiscard]] std::vector<std::string_view> algorithm_settings();

/// The options that add_common adds.
///
/// settings  names of the settings that the command uses; any other is a usage error
/// unused    those of them that --help does not list, because the command refuses them and says why
/// stats     --stats; the command has counters
/// quiet     --quiet; the command prints a report or progress in addition to its output
struct common_parts {
  std::vector<std::string_view> settings;
  std::vector<std::string_view> unused = {};
  bool stats = true;
  bool quiet = true;
};

/// Adds --json and these options.
void add_common(CLI::App& command, common& c, const common_parts& parts);

/// Rejects options on the command line that have no effect because of others: --grain with a
/// mechanism without transactions, --pin with a simulated cluster, --mpi without mpiexec, --stats
/// with --quiet.
///
/// Throws    usage_error
void expect_effect(const common& c);

/// Rejects settings on the command line that need several ranks, if there is one. Variables of the
/// environment are for scripts that run on any number of ranks.
///
/// Throws    usage_error
void expect_effect(const common& c, const world& w);
/// The same for an option of a command.
void expect_several_ranks(const world& w, std::string_view option);

/// Rejects an option that names a file if several seeds would write it one after another.
///
/// Throws    usage_error
void expect_one_seed(const common& c, std::string_view option);

/// Rejects --grain, --retry and --costs on the command line if no operator runs in a group: by one
/// worker, or because there are no hardware transactions. Collective.
///
/// several_cells   the operators change several cells
/// Throws    usage_error on all ranks
void expect_groups_used(const common& c, world& w, bool several_cells);

/// Adds an option that names a file to write.
void add_file_to_write(CLI::App& command, const std::string& names, std::string& file,
                       const std::string& help);

/// Checks that an option's value is not empty, which would mean that the option was not given.
[[nodiscard]] CLI::Validator not_empty();

/// Checks that an option's value is an integer in this range, written in decimal. As a transform it
/// also drops leading zeros: CLI11 would read an octal number, and wrap or saturate others.
[[nodiscard]] CLI::Validator unsigned_integer(
    std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// Prints "cairn: sentence" on standard error.
void say(const std::string& sentence);

}  // namespace cairn::cli
