// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cairn/algo/mst.hpp>
#include <cairn/algo/verify_mst.hpp>

#include "cli/input.hpp"
#include "cli/progress.hpp"

namespace cairn::cli {
namespace {

struct mst_command {
  explicit mst_command(const common& from) : c(from) {}

  const common& c;
  input_options in;
  int trials = 1;
  bool verify = false;
};

algo::mst_options options_of(const mst_command& cmd) {
  algo::mst_options opt;
  opt.activity.how = activity::parse_mechanism(cmd.c.settings.mechanism);
  opt.activity.grain = cmd.c.settings.grain;
  return opt;
}

template <class Id>
int run_trials(world& w, const graph::dist_csr<Id>& g, const mst_command& cmd, report& r) {
  if (g.directed()) {
    throw usage_error(name_of(cmd.in) +
                      " is directed: a spanning forest is of an undirected graph (--symmetrize)");
  }
  const auto opt = options_of(cmd);
  std::vector<double> seconds;
  json last;
  std::string broken;
  for (int trial = 0; trial < cmd.trials && broken.empty(); ++trial) {
    progress bar(!cmd.c.quiet && w.rank() == 0, "minimum spanning forest");
    bar.at(static_cast<std::uint64_t>(trial), static_cast<std::uint64_t>(cmd.trials));
    w.barrier();
    const auto start = w.clock().now_ns();
    const auto result = algo::mst<Id>(w, g, opt);
    w.barrier();
    seconds.push_back(static_cast<double>(w.clock().now_ns() - start) * 1e-9);
    last = {{"weight", result.weight},   {"edges", result.num_edges},
            {"trees", result.num_trees}, {"rounds", result.rounds},
            {"weighted", g.weighted()},  {"mechanism", activity::name(result.mechanism)},
            {"grain", result.grain}};
    if (cmd.verify) broken = algo::verify_mst<Id>(w, g, result.edges).value_or("");
  }
  r["result"] = last;
  r["seconds"]["run"] = seconds;
  if (cmd.verify) r["verified"] = broken.empty();
  r.count(w);

  r.line("ranks", fmt::format("{} x {} workers", w.size(), w.workers()));
  r.line("weight", fmt::format("{}{}", last["weight"].get<double>(),
                               g.weighted() ? "" : " (each edge counts 1)"));
  r.line("forest",
         fmt::format("{} edges, {} trees", human_count(last["edges"].get<std::uint64_t>()),
                     human_count(last["trees"].get<std::uint64_t>())));
  r.line("rounds", human_count(last["rounds"].get<std::uint64_t>()));
  r.line("time", fmt::format("{} (median of {})", human_seconds(median(seconds)), cmd.trials));
  r.line("mechanism", fmt::format("{}, grain {}", last["mechanism"].get<std::string>(),
                                  last["grain"].get<std::uint64_t>()));
  if (cmd.verify) r.line("verified", broken.empty() ? "yes" : "NO: " + broken);
  r.print(w);
  if (!broken.empty() && w.rank() == 0) say("verification failed: " + broken);
  return broken.empty() ? 0 : 1;
}

int run_command(const mst_command& cmd) {
  static_cast<void>(source_of(cmd.in));
  static_cast<void>(options_of(cmd));
  graph_keeper graphs(cmd.in, {}, !cmd.c.quiet);
  return run_ranks(cmd.c, [&](world& w) {
    report r("mst", cmd.c, w);
    return std::visit([&](const auto& g) { return run_trials(w, g, cmd, r); }, graphs.get(w, r));
  });
}

}  // namespace

void add_mst(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("mst", "Minimum spanning forest of an undirected graph");
  const auto cmd = std::make_shared<mst_command>(c);
  add_input(command, cmd->in);
  command.add_option("--trials,-n", cmd->trials, "Runs")->check(CLI::PositiveNumber);
  command.add_flag("--verify,-v", cmd->verify, "Check that the forest spans and is minimal");
  add_common(command, c);
  command.callback([cmd, &chosen] { chosen = [cmd] { return run_command(*cmd); }; });
}

}  // namespace cairn::cli
