// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/verify_pagerank.hpp>

#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"

namespace cairn::cli {
namespace {

using algo::pagerank_convention;
using algo::pagerank_sweep;
using algo::pagerank_variant;

const std::map<std::string, pagerank_variant> variants{{"pull", pagerank_variant::pull},
                                                       {"push", pagerank_variant::push},
                                                       {"edge", pagerank_variant::edge}};
const std::map<std::string, pagerank_convention> conventions{
    {"gap", pagerank_convention::gap},
    {"graphalytics", pagerank_convention::graphalytics},
    {"networkx", pagerank_convention::networkx}};
const std::map<std::string, pagerank_sweep> sweeps{{"auto", pagerank_sweep::automatic},
                                                   {"jacobi", pagerank_sweep::jacobi},
                                                   {"in-place", pagerank_sweep::in_place}};
const std::map<std::string, pgas::accumulation> accumulations{
    {"auto", pgas::accumulation::automatic},
    {"partials", pgas::accumulation::partials},
    {"bins", pgas::accumulation::bins}};

template <class T>
std::string name_in(const std::map<std::string, T>& names, T value) {
  return std::find_if(names.begin(), names.end(), [&](const auto& x) { return x.second == value; })
      ->first;
}

struct pagerank_command {
  explicit pagerank_command(const common& from) : c(from) {}

  const common& c;
  input_options in;
  std::string variant = "pull", convention = "gap", sweep = "auto", precision = "float";
  std::string aggregate = "auto";
  std::optional<std::uint64_t> iterations;
  std::optional<double> tolerance;
  double damping = 0.85;
  int trials = 1;
  bool verify = false;
  std::string output;
};

algo::pagerank_options options_of(const pagerank_command& cmd) {
  algo::pagerank_options opt;
  opt.variant = variants.at(cmd.variant);
  opt.convention = conventions.at(cmd.convention);
  opt.sweep = sweeps.at(cmd.sweep);
  opt.iterations = cmd.iterations;
  opt.tolerance = cmd.tolerance;
  opt.damping = cmd.damping;
  if (cmd.aggregate == "off") {
    opt.aggregate = std::nullopt;
  } else {
    opt.aggregate->how = accumulations.at(cmd.aggregate);
  }
  opt.activity.how = activity::parse_mechanism(cmd.c.settings.mechanism);
  opt.activity.grain = cmd.c.settings.grain;
  opt.activity.retry = tm::parse_retry(cmd.c.settings.retry);
  if (opt.sweep == pagerank_sweep::in_place && (cmd.variant != "pull" || cmd.convention != "gap")) {
    throw usage_error("--sweep in-place is for --variant pull by --convention gap");
  }
  if (!(opt.damping >= 0 && opt.damping < 1)) {
    throw usage_error(fmt::format("damping is {}, expected 0 <= damping < 1", opt.damping));
  }
  return opt;
}

std::string mechanism_of(const auto& result) {
  if (result.mechanism) return std::string(activity::name(*result.mechanism));
  if (result.aggregate) return name_in(accumulations, *result.aggregate);
  return result.in_place ? "in-place" : "jacobi";
}

template <class Real, class Id>
int run_trials(world& w, const graph::dist_csr<Id>& g, const pagerank_command& cmd, report& r) {
  const auto opt = options_of(cmd);
  std::vector<double> seconds, teps;
  r["result"] = {{"variant", cmd.variant},
                 {"convention", cmd.convention},
                 {"precision", cmd.precision},
                 {"trials", json::array()}};
  json& trials = r["result"]["trials"];
  std::string broken;
  for (int trial = 0; trial < cmd.trials && broken.empty(); ++trial) {
    progress bar(!cmd.c.quiet && w.rank() == 0, "PageRank");
    bar.at(static_cast<std::uint64_t>(trial), static_cast<std::uint64_t>(cmd.trials));
    w.barrier();
    const auto start = w.clock().now_ns();
    const auto result = algo::pagerank<Real>(w, g, opt);
    w.barrier();
    seconds.push_back(static_cast<double>(w.clock().now_ns() - start) * 1e-9);
    const auto swept = static_cast<double>(g.num_edges() * result.iterations);
    teps.push_back(seconds.back() > 0 ? swept / seconds.back() : 0);
    trials.push_back({{"iterations", result.iterations},
                      {"change", result.change},
                      {"mechanism", mechanism_of(result)},
                      {"chosen", result.chosen}});
    if (cmd.verify) broken = algo::verify_pagerank(w, g, result, opt).value_or("");
    if (!cmd.output.empty() && trial + 1 == cmd.trials) {
      write_values(w, cmd.output, "rank", g, result.rank);
    }
  }
  r["seconds"]["run"] = seconds;
  r["teps"] = median(teps);
  if (cmd.verify) r["verified"] = broken.empty();
  r.count(w);

  const json& last = trials.back();
  r.line("ranks", fmt::format("{} x {} workers", w.size(), w.workers()));
  r.line("convention", cmd.convention);
  r.line("sweeps",
         fmt::format("{}, the last changed {:.4g}", last["iterations"].get<std::uint64_t>(),
                     last["change"].get<double>()));
  r.line("time", fmt::format("{} (median of {})", human_seconds(median(seconds)), cmd.trials));
  r.line("TEPS", fmt::format("{:.4g} million", median(teps) / 1e6));
  r.line("mechanism", fmt::format("{}, {}, {}", cmd.variant, last["mechanism"].get<std::string>(),
                                  cmd.precision));
  say_chosen(r);
  if (cmd.verify) r.line("verified", broken.empty() ? "yes" : "NO: " + broken);
  r.print(w);
  if (!broken.empty() && w.rank() == 0) say("verification failed: " + broken);
  return broken.empty() ? 0 : 1;
}

int run_command(const pagerank_command& cmd) {
  static_cast<void>(source_of(cmd.in));
  static_cast<void>(options_of(cmd));
  if (!cmd.output.empty()) check_output(cmd.output);
  graph::load_options options;
  options.build.inverse = cmd.variant == "pull";
  options.build.keep_weights = false;
  graph_keeper graphs(cmd.in, options, !cmd.c.quiet);
  return run_ranks(cmd.c, [&](world& w) {
    report r("pagerank", cmd.c, w);
    return std::visit(
        [&](const auto& g) {
          return cmd.precision == "float" ? run_trials<float>(w, g, cmd, r)
                                          : run_trials<double>(w, g, cmd, r);
        },
        graphs.get(w, r));
  });
}

}  // namespace

void add_pagerank(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("pagerank", "PageRank of every vertex");
  const auto cmd = std::make_shared<pagerank_command>(c);
  const auto one_of = [&](const char* name, std::string& value, const char* help,
                          std::vector<std::string> words) {
    command.add_option(name, value, help)->check(CLI::IsMember(std::move(words)));
  };
  add_input(command, cmd->in);
  one_of("--convention", cmd->convention, "Whose PageRank: what becomes of sinks, when to stop",
         {"gap", "graphalytics", "networkx"});
  one_of("--variant", cmd->variant, "Who moves rank along an edge", {"pull", "push", "edge"});
  one_of("--sweep", cmd->sweep, "Whether a sweep reads what it has already made",
         {"auto", "jacobi", "in-place"});
  one_of("--aggregate", cmd->aggregate,
         "How push and edge add up without conflicts; off: operators by --mechanism",
         {"auto", "partials", "bins", "off"});
  one_of("--precision", cmd->precision, "Of ranks", {"float", "double"});
  command.add_option("--iterations,-i", cmd->iterations, "At most so many sweeps")->type_name("N");
  command.add_option("--tolerance,-t", cmd->tolerance, "Stop when a sweep changes less than this")
      ->type_name("E");
  command.add_option("--damping", cmd->damping, "Follow an edge with this probability")
      ->type_name("D");
  command.add_option("--trials,-n", cmd->trials, "Runs")->check(CLI::PositiveNumber);
  command.add_flag("--verify,-v", cmd->verify, "Check the result by another sweep in double");
  command.add_option("--output", cmd->output, "Write one row per vertex: .csv .tsv .npy, also .gz");
  add_common(command, c);
  command.callback([cmd, &chosen] { chosen = [cmd] { return run_command(*cmd); }; });
}

}  // namespace cairn::cli
