// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cairn/algo/components.hpp>
#include <cairn/algo/verify_components.hpp>

#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"

namespace cairn::cli {
namespace {

struct cc_command {
  explicit cc_command(const common& from) : c(from) {}

  const common& c;
  input_options in;
  int trials = 1;
  bool verify = false;
  std::string method = "auto";
  std::string output;
};

algo::components_options options_of(const cc_command& cmd) {
  algo::components_options opt;
  opt.activity.how = activity::parse_mechanism(cmd.c.settings.mechanism);
  opt.activity.grain = cmd.c.settings.grain;
  opt.activity.sent_filter = cmd.c.settings.filter_entries != 0;
  if (cmd.method == "afforest") opt.method = algo::components_method::afforest;
  if (cmd.method == "propagation") opt.method = algo::components_method::propagation;
  return opt;
}

template <class Id>
int run_trials(world& w, const graph::dist_csr<Id>& g, const cc_command& cmd, report& r) {
  const auto opt = options_of(cmd);
  std::vector<double> seconds;
  json last;
  std::string broken;
  for (int trial = 0; trial < cmd.trials && broken.empty(); ++trial) {
    progress bar(!cmd.c.quiet && w.rank() == 0, "components");
    bar.at(static_cast<std::uint64_t>(trial), static_cast<std::uint64_t>(cmd.trials));
    w.barrier();
    const auto start = w.clock().now_ns();
    const auto result = algo::components<Id>(w, g, opt);
    w.barrier();
    seconds.push_back(static_cast<double>(w.clock().now_ns() - start) * 1e-9);
    const bool travelled = result.method == algo::components_method::propagation;
    last = {{"components", result.num_components},
            {"largest", result.largest},
            {"rounds", result.rounds},
            {"method", travelled ? "propagation" : "afforest"},
            {"mechanism", activity::name(result.mechanism)},
            {"grain", result.grain}};
    if (cmd.verify) broken = algo::verify_components<Id>(w, g, result.label).value_or("");
    if (!cmd.output.empty() && trial + 1 == cmd.trials) {
      write_values(w, cmd.output, "component", g, result.label, true);
    }
  }
  r["result"] = last;
  r["seconds"]["run"] = seconds;
  if (cmd.verify) r["verified"] = broken.empty();
  r.count(w);

  r.line("ranks", fmt::format("{} x {} workers", w.size(), w.workers()));
  r.line("components", human_count(last["components"].get<std::uint64_t>()));
  r.line("largest", human_count(last["largest"].get<std::uint64_t>()) + " vertices");
  r.line("method", fmt::format("{}, {} rounds", last["method"].get<std::string>(),
                               last["rounds"].get<std::uint64_t>()));
  r.line("time", fmt::format("{} (median of {})", human_seconds(median(seconds)), cmd.trials));
  r.line("mechanism", fmt::format("{}, grain {}", last["mechanism"].get<std::string>(),
                                  last["grain"].get<std::uint64_t>()));
  if (cmd.verify) r.line("verified", broken.empty() ? "yes" : "NO: " + broken);
  r.print(w);
  if (!broken.empty() && w.rank() == 0) say("verification failed: " + broken);
  return broken.empty() ? 0 : 1;
}

int run_command(const cc_command& cmd) {
  static_cast<void>(source_of(cmd.in));
  static_cast<void>(options_of(cmd));
  if (!cmd.output.empty()) check_output(cmd.output);
  graph::load_options options;
  options.build.inverse = cmd.verify || cmd.method == "propagation";
  options.build.keep_weights = false;
  graph_keeper graphs(cmd.in, options, !cmd.c.quiet);
  return run_ranks(cmd.c, [&](world& w) {
    report r("cc", cmd.c, w);
    return std::visit([&](const auto& g) { return run_trials(w, g, cmd, r); }, graphs.get(w, r));
  });
}

}  // namespace

void add_cc(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("cc", "Connected components, edges taken both ways");
  const auto cmd = std::make_shared<cc_command>(c);
  add_input(command, cmd->in);
  command.add_option("--trials,-n", cmd->trials, "Runs")->check(CLI::PositiveNumber);
  command.add_option("--method", cmd->method, "How components are found")
      ->check(CLI::IsMember({"auto", "afforest", "propagation"}));
  command.add_flag("--verify,-v", cmd->verify, "Check the result by a search from every label");
  command.add_option("--output", cmd->output, "Write one row per vertex: .csv .tsv .npy, also .gz");
  add_common(command, c);
  command.callback([cmd, &chosen] { chosen = [cmd] { return run_command(*cmd); }; });
}

}  // namespace cairn::cli
