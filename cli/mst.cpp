// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cairn/algo/mst.hpp>
#include <cairn/algo/verify_mst.hpp>

#include "cli/trials.hpp"

namespace cairn::cli {
namespace {

struct mst_command : trial_options {
  using trial_options::trial_options;
  std::string merge = "auto";
};

algo::mst_merge merge_of(const mst_command& cmd) {
  using algo::mst_merge;
  if (cmd.merge == "auto") return mst_merge::automatic;
  return cmd.merge == "hooking" ? mst_merge::hooking : mst_merge::transactions;
}

template <class Id>
int run(world& w, const graph::dist_csr<Id>& g, const mst_command& cmd, report& r) {
  if (g.directed()) {
    throw usage_error(name_of(cmd.in) +
                      " is directed: a spanning forest is of an undirected graph (--symmetrize)");
  }
  if (w.size() == 1 && cmd.merge != "auto") {
    throw usage_error("--merge " + cmd.merge + " is for several ranks, and there is one (--ranks)");
  }
  const algo::mst_options opt{.activity = activity_of(cmd.c), .merge = merge_of(cmd)};
  json& trials = r["result"]["trials"] = json::array();
  const auto broken = run_trials(
      w, cmd, "minimum spanning forest", r, [&](int) { return algo::mst<Id>(w, g, opt); },
      [&](int, const algo::mst_result<Id>& m) -> std::string {
        trials.push_back({{"weight", m.weight},
                          {"edges", m.num_edges},
                          {"trees", m.num_trees},
                          {"rounds", m.rounds},
                          {"merge", m.merge},
                          {"merge_chosen", m.merge_chosen},
                          {"weighted", g.weighted()},
                          {"mechanism", activity::name(m.mechanism)},
                          {"grain", m.grain},
                          {"chosen", m.chosen}});
        return cmd.verify ? algo::verify_mst<Id>(w, g, m.edges).value_or("") : "";
      });
  const json& last = trials.back();
  r.line("weight", fmt::format("{}{}", last["weight"].get<double>(),
                               g.weighted() ? "" : " (each edge counts 1)"));
  r.line("forest", fmt::format("{} edges, {} trees, in {} rounds",
                               human_count(last["edges"].get<std::uint64_t>()),
                               human_count(last["trees"].get<std::uint64_t>()),
                               last["rounds"].get<std::uint64_t>()));
  r.line("merge", fmt::format("{}: {}", last["merge"].get<std::string>(),
                              last["merge_chosen"].get<std::string>()));
  return finish(w, cmd, r, broken);
}

}  // namespace

void add_mst(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("mst", "Minimum spanning forest of an undirected graph");
  const auto cmd = std::make_shared<mst_command>(c);
  add_trials(command, *cmd, c, "Check that the forest spans and is minimal", false);
  command.add_option("--merge", cmd->merge, "Over ranks: auto, hooking or transactions")
      ->check(CLI::IsMember({"auto", "hooking", "transactions"}));
  command.callback([cmd, &chosen] {
    chosen = [cmd] {
      return on_graph(
          "mst", *cmd, false,
          [&](world& w, const auto& g, report& r) { return run(w, g, *cmd, r); }, weights::kept);
    };
  });
}

}  // namespace cairn::cli
