// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cairn/algo/components.hpp>
#include <cairn/algo/verify_components.hpp>

#include "cli/trials.hpp"

namespace cairn::cli {
namespace {

struct cc_command : trial_options {
  using trial_options::trial_options;

  std::string method = "auto";
};

algo::components_options options_of(const cc_command& cmd) {
  algo::components_options opt{.activity = activity_of(cmd.c)};
  if (cmd.method == "afforest") opt.method = algo::components_method::afforest;
  if (cmd.method == "propagation") opt.method = algo::components_method::propagation;
  return opt;
}

template <class Id>
int run(world& w, const graph::dist_csr<Id>& g, const cc_command& cmd, report& r) {
  const auto opt = options_of(cmd);
  json& trials = r["result"]["trials"] = json::array();
  const auto broken = run_trials(
      w, cmd, "components", r, [&](int) { return algo::components<Id>(w, g, opt); },
      [&](int trial, const algo::components_result<Id>& c) -> std::string {
        const bool travelled = c.method == algo::components_method::propagation;
        trials.push_back({{"components", c.num_components},
                          {"largest", c.largest},
                          {"rounds", c.rounds},
                          {"method", travelled ? "propagation" : "afforest"},
                          {"mechanism", activity::name(c.mechanism)},
                          {"grain", c.grain},
                          {"chosen", c.chosen}});
        if (!cmd.output.empty() && trial + 1 == cmd.trials) {
          write_values(w, cmd.output, "component", g, c.label, true);
        }
        return cmd.verify ? algo::verify_components<Id>(w, g, c.label).value_or("") : "";
      });
  const json& last = trials.back();
  r.line("components", fmt::format("{}, the largest of {} vertices",
                                   human_count(last["components"].get<std::uint64_t>()),
                                   human_count(last["largest"].get<std::uint64_t>())));
  r.line("method", fmt::format("{}, {} rounds", last["method"].get<std::string>(),
                               last["rounds"].get<std::uint64_t>()));
  return finish(w, cmd, r, broken);
}

}  // namespace

void add_cc(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("cc", "Connected components, edges taken both ways");
  const auto cmd = std::make_shared<cc_command>(c);
  add_trials(command, *cmd, c, "Check the result by a search from every label");
  command.add_option("--method", cmd->method, "How components are found")
      ->check(CLI::IsMember({"auto", "afforest", "propagation"}));
  command.callback([cmd, &chosen] {
    chosen = [cmd] {
      // With the in-edges afforest skips the largest component's edges, which are most.
      return on_graph("cc", *cmd, true,
                      [&](world& w, const auto& g, report& r) { return run(w, g, *cmd, r); });
    };
  });
}

}  // namespace cairn::cli
