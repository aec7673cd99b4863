// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cairn/algo/coloring.hpp>

#include "cli/trials.hpp"

namespace cairn::cli {
namespace {

struct coloring_command : trial_options {
  using trial_options::trial_options;
};

template <class Id>
int run(world& w, const graph::dist_csr<Id>& g, const coloring_command& cmd, report& r) {
  const algo::coloring_options opt{.activity = activity_of(cmd.c), .seed = cmd.in.seed};
  json& trials = r["result"]["trials"] = json::array();
  const auto broken = run_trials(
      w, cmd, "colouring", r, [&](int) { return algo::coloring(w, g, opt); },
      [&](int trial, const algo::coloring_result& c) -> std::string {
        trials.push_back({{"colours", c.num_colours},
                          {"rounds", c.rounds},
                          {"conflicts", c.conflicts},
                          {"mechanism", activity::name(c.mechanism)},
                          {"grain", c.grain},
                          {"chosen", c.chosen}});
        if (!cmd.output.empty() && trial + 1 == cmd.trials) {
          write_values(w, cmd.output, "colour", g, c.colour);
        }
        return cmd.verify ? algo::verify_coloring(w, g, c.colour).value_or("") : "";
      });
  const json& last = trials.back();
  r.line("colours", fmt::format("{} in {} rounds, {} conflicts", last["colours"].get<int>(),
                                last["rounds"].get<int>(),
                                human_count(last["conflicts"].get<std::uint64_t>())));
  return finish(w, cmd, r, broken);
}

}  // namespace

void add_coloring(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("coloring", "Proper colouring: no edge joins equal colours");
  const auto cmd = std::make_shared<coloring_command>(c);
  add_trials(command, *cmd, c, "Check every edge, and the number of colours");
  command.callback([cmd, &chosen] {
    chosen = [cmd] {
      return on_graph("coloring", *cmd, true,
                      [&](world& w, const auto& g, report& r) { return run(w, g, *cmd, r); });
    };
  });
}

}  // namespace cairn::cli
