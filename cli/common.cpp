// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/core/simulation.hpp>

#include "cli/cli.hpp"

namespace cairn::cli {
namespace {

using name_list = std::initializer_list<std::string_view>;

constexpr auto one_rank = "there is one rank (--ranks N)";

constexpr std::array<std::pair<std::string_view, setting_group>, 30> kinds_of_settings{{
    {"threads", setting_group::workers},         {"timeout", setting_group::workers},
    {"watchdog", setting_group::workers},        {"pin", setting_group::workers},
    {"ranks", setting_group::processes},         {"transport", setting_group::processes},
    {"mpi", setting_group::processes},           {"plugins", setting_group::processes},
    {"machines", setting_group::processes},      {"sim", setting_group::simulation},
    {"coalesce", setting_group::messages},       {"coalesce-age", setting_group::messages},
    {"routing", setting_group::messages},        {"pending", setting_group::messages},
    {"progress", setting_group::messages},       {"helpers", setting_group::messages},
    {"command-block", setting_group::messages},  {"queue-age", setting_group::messages},
    {"channel-blocks", setting_group::messages}, {"filter", setting_group::filter},
    {"mechanism", setting_group::operators},     {"grain", setting_group::operators},
    {"retry", setting_group::operators},         {"costs", setting_group::operators},
    {"deliver", setting_group::operators},       {"frequency", setting_group::operators},
    {"lead", setting_group::operators},          {"prefetching", setting_group::tasks},
    {"loop-tasks", setting_group::tasks},        {"share-gets", setting_group::arrays},
}};

void refuse_given(const common& c, const auto& unused, const std::string& why) {
  for (const auto name : unused) {
    if (c.given.contains(name)) {
      throw usage_error(fmt::format("--{} has no effect here: {}", name, why));
    }
  }
}

}  // namespace

void say(const std::string& sentence) { std::fprintf(stderr, "cairn: %s\n", sentence.c_str()); }

void add_file_to_write(CLI::App& command, const std::string& names, std::string& file,
                       const std::string& help) {
  const auto is_named = [](const std::string& text) {
    return text.empty() ? std::string("name the file to write") : std::string();
  };
  command.add_option(names, file, help)->type_name("FILE")->check(CLI::Validator(is_named, ""));
}

CLI::Validator not_empty() {
  return {[](const std::string& text) {
            return text.empty() ? std::string("the value is empty") : std::string();
          },
          ""};
}

CLI::Validator unsigned_integer(std::uint64_t least, std::uint64_t most) {
  const auto read = [least, most](std::string& text) {
    std::uint64_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || at != end || value < least || value > most) {
      constexpr auto all = std::numeric_limits<std::uint64_t>::max();
      return fmt::format("'{}' is not an integer from {} to {}", text, least,
                         most == all ? "2^64 - 1" : std::to_string(most));
    }
    text = std::to_string(value);
    return std::string();
  };
  return {read, "", "integer"};
}

std::vector<std::string_view> settings_of(std::initializer_list<setting_group> kinds) {
  std::vector<std::string_view> names;
  for (const auto& [name, kind] : kinds_of_settings) {
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) names.push_back(name);
  }
  return names;
}

std::vector<std::string_view> algorithm_settings() {
  return settings_of({setting_group::workers, setting_group::processes, setting_group::simulation,
                      setting_group::messages, setting_group::filter, setting_group::operators});
}

void expect_effect(const common& c) {
  if (c.quiet && c.stats && !c.json) {
    throw usage_error("--stats has no effect here: --quiet prints no report");
  }
  const auto& mechanism = c.settings.mechanism;
  const auto one_by_one = "by mechanism " + mechanism + " operators run one by one";
  if (mechanism != "auto" && mechanism != "htm" && mechanism != "stm") {
    refuse_given(c, name_list{"retry"}, "only --mechanism htm and stm retry transactions");
    refuse_given(c, name_list{"grain", "costs"}, one_by_one);
  }
  if (mechanism != "auto" && c.settings.grain != 0) {
    refuse_given(c, name_list{"costs"}, "mechanism and grain are given");
  }
  if (c.settings.progress != progress_style::specialised) {
    refuse_given(c, name_list{"helpers", "command-block", "queue-age", "channel-blocks"},
                 "only --progress specialised uses it");
  }
  if (!c.settings.sim.empty()) {
    refuse_given(c, name_list{"pin", "transport", "mpi", "plugins", "machines"},
                 "the ranks of --sim are simulated in one thread");
    refuse_given(c, name_list{"watchdog"}, "a simulated cluster that stalls ends by itself");
  } else if (!is_launched()) {
    refuse_given(c, name_list{"mpi", "plugins", "machines"},
                 "the ranks were not started by mpiexec");
  }
}

void expect_effect(const common& c, const world& w) {
  if (w.size() > 1) return;
  refuse_given(c,
               name_list{"routing", "filter", "progress", "helpers", "command-block", "queue-age",
                         "channel-blocks", "machines"},
               one_rank);
  if (c.settings.transport != transport_kind::mpi) {  // one rank of MPI starts it
    refuse_given(c, name_list{"transport", "mpi", "plugins"}, one_rank);
  }
  if (c.settings.deliver != delivery::owner || w.workers() == 1) {
    refuse_given(c, name_list{"frequency", "coalesce", "coalesce-age", "pending"}, one_rank);
  }
}

void expect_groups_used(const common& c, world& w, bool several_cells) {
  const auto& mechanism = c.settings.mechanism;
  const name_list all{"grain", "retry", "costs"};
  const auto is_given = [&](std::string_view name) { return c.given.contains(name); };
  if (std::ranges::none_of(all, is_given)) return;
  if (mechanism == "auto" && w.max(static_cast<std::uint64_t>(w.workers())) == 1) {
    constexpr auto one_worker = "by one worker, --mechanism auto runs operators one by one";
    refuse_given(c, name_list{"retry", "costs"}, one_worker);
    // Transactions over elements of several ranks form groups anyway.
    if (!several_cells || w.size() == 1) refuse_given(c, name_list{"grain"}, one_worker);
    return;
  }
  if (several_cells || (mechanism != "auto" && mechanism != "htm")) return;
  if (w.any(w.options().emulate_transactions || w.transactions().works)) return;
  constexpr auto no_groups = "without hardware transactions operators run one by one, by atomics";
  refuse_given(c, name_list{"retry", "costs"}, no_groups);
  // On one rank it also prevents runs by one worker alone (traverse/small_run.hpp).
  if (w.size() > 1 || mechanism != "auto") refuse_given(c, name_list{"grain"}, no_groups);
}

void expect_one_seed(const common& c, std::string_view option) {
  if (c.settings.sim.empty()) return;
  const auto plan = parse_simulation(c.settings.sim, c.settings.sim_costs);
  if (plan.first_seed == plan.last_seed) return;
  throw usage_error(fmt::format("--{} writes one run, and --sim has several seeds", option));
}

void expect_several_ranks(const world& w, std::string_view option) {
  if (w.size() > 1) return;
  throw usage_error(fmt::format("--{} has no effect here: {}", option, one_rank));
}

void add_common(CLI::App& command, common& c, const common_parts& parts) {
  command.add_flag("--json", c.json, "Print one JSON object and nothing else");
  if (parts.stats) {
    command.add_flag("--stats", c.stats, "Print counters: messages, buffers, aborts, ...");
  }
  if (parts.quiet) command.add_flag("--quiet", c.quiet, "Print no report and no progress");
  const auto is_in = [](const auto& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto& row : setting::all()) {
    if (!is_in(parts.settings, row.name)) continue;
    const std::string name(row.name);
    auto help = std::string(row.help);
    if (!row.unit.empty()) help += " (" + std::string(row.unit) + ")";
    const auto absent = settings().text(name);
    if (absent != "auto" && absent != "off") help += " (default: " + absent + ")";
    const auto apply = [&c, name](const std::string& value) {
      c.settings.set(name, value);
      c.given.insert(name);
    };
    command.add_option_function<std::string>("--" + name, apply, help)
        ->type_name(std::string(row.values))
        ->group(is_in(parts.unused, row.name) ? "" : "Runtime");
  }
}

}  // namespace cairn::cli
