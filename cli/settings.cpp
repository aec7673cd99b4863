// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cairn/core/launch.hpp>

#include "cli/report.hpp"

namespace cairn::cli {
namespace {

int print_settings(const common& c) {
  if (!is_first_process()) return 0;
  if (c.json) {
    auto rows = json::array();
    json values = json::object();
    for (const auto& row : setting::all()) {
      values[std::string(row.name)] = c.settings.text(row.name);
      rows.push_back({{"name", row.name},
                      {"variable", row.variable},
                      {"values", row.values},
                      {"unit", row.unit},
                      {"value", c.settings.text(row.name)},
                      {"help", row.help},
                      {"gmt", row.gmt}});
    }
    put(to_text({{"command", "settings"},
                 {"settings", values},
                 {"result", rows},
                 {"version", CAIRN_VERSION}}) +
        "\n");
    return 0;
  }
  put(fmt::format("{:<18} {:<24} {:<12} {:<8} {}\n", "option", "variable", "value", "unit",
                  "meaning"));
  for (const auto& row : setting::all()) {
    put(fmt::format("--{:<16} {:<24} {:<12} {:<8} {}\n", row.name, row.variable,
                    c.settings.text(row.name), row.unit, row.help));
  }
  put("\nGMT's names of these settings, or of what they correspond to:\n");
  for (const auto& row : setting::all()) {
    if (!row.gmt.empty()) put(fmt::format("--{:<16} {}\n", row.name, row.gmt));
  }
  return 0;
}

}  // namespace

void add_settings(CLI::App& app, common& c, action& chosen) {
  auto& command =
      *app.add_subcommand("settings", "List all settings with their variables and values");
  const auto all =
      settings_of({setting_group::workers, setting_group::processes, setting_group::simulation,
                   setting_group::messages, setting_group::tasks, setting_group::arrays,
                   setting_group::filter, setting_group::operators});
  add_common(command, c, {.settings = all, .stats = false, .quiet = false});
  command.callback([&c, &chosen] { chosen = [&c] { return print_settings(c); }; });
}

}  // namespace cairn::cli
