// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/pull_layout.hpp>
#include <cairn/algo/verify_pagerank.hpp>

#include "cli/trials.hpp"

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

struct pagerank_command : trial_options {
  using trial_options::trial_options;

  std::string variant = "pull", convention = "gap", sweep = "auto", precision = "float";
  std::string aggregate = "auto", layout = "auto";
  std::optional<std::uint64_t> iterations;
  std::optional<double> tolerance;
  double damping = 0.85;
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
  opt.activity = activity_of(cmd.c);
  if (opt.sweep == pagerank_sweep::in_place && (cmd.variant != "pull" || cmd.convention != "gap")) {
    throw usage_error("--sweep in-place is for --variant pull by --convention gap");
  }
  if (cmd.aggregate != "auto" && cmd.variant == "pull") {
    throw usage_error("--aggregate is for --variant push and edge: pull adds up where it writes");
  }
  if (cmd.layout != "auto" && cmd.variant != "pull") {
    throw usage_error("--layout is for --variant pull: it orders in-edges");
  }
  if (opt.tolerance && opt.convention == pagerank_convention::graphalytics) {
    throw usage_error("--tolerance is not for --convention graphalytics: it runs --iterations");
  }
  if (opt.tolerance && !(*opt.tolerance >= 0)) {
    throw usage_error(fmt::format("tolerance is {}, expected at least 0", *opt.tolerance));
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

// The layout that is asked for, or that the trials repay. Its time counts as building.
template <class Id>
std::optional<algo::pull_layout<Id>> layout_for(world& w, const graph::dist_csr<Id>& g,
                                                const pagerank_command& cmd,
                                                const algo::pagerank_options& opt, report& r) {
  using layout = algo::pull_layout<Id>;
  if (cmd.layout == "none" || cmd.variant != "pull") return std::nullopt;
  const auto kind = layout::kind_for(g);
  const auto expected = algo::expected_sweeps(opt, g.num_vertices()) *
                        static_cast<std::uint64_t>(std::max(0, cmd.trials));
  const bool repaid = w.max(layout::sweeps_that_repay(kind)) <= expected;
  if (cmd.layout == "auto" && !repaid) return std::nullopt;
  w.barrier();
  const auto start = w.clock().now_ns();
  std::optional<layout> built(std::in_place, w, g, kind);
  w.barrier();
  auto& seconds = r["seconds"]["build"];
  seconds = (seconds.is_number() ? seconds.template get<double>() : 0) +
            static_cast<double>(w.clock().now_ns() - start) * 1e-9;
  return built;
}

template <class Real, class Id>
int run(world& w, const graph::dist_csr<Id>& g, const pagerank_command& cmd, report& r) {
  const auto opt = options_of(cmd);
  const auto layout = layout_for(w, g, cmd, opt, r);
  std::vector<std::uint64_t> edges;
  r["result"] = {{"variant", cmd.variant},
                 {"convention", cmd.convention},
                 {"precision", cmd.precision},
                 {"layout", !layout           ? "none"
                            : layout->tiled() ? "tiles"
                                              : "groups"},
                 {"trials", json::array()}};
  json& trials = r["result"]["trials"];
  const auto judge = [&](int trial, const algo::pagerank_result<Real>& result) {
    edges.push_back(g.num_edges() * result.iterations);
    trials.push_back({{"iterations", result.iterations},
                      {"change", result.change},
                      {"mechanism", mechanism_of(result)},
                      {"chosen", result.chosen}});
    if (!cmd.output.empty() && trial + 1 == cmd.trials) {
      write_values(w, cmd.output, "rank", g, result.rank);
    }
    return cmd.verify ? algo::verify_pagerank(w, g, result, opt).value_or("") : "";
  };
  const auto broken = run_trials(
      w, cmd, "PageRank", r,
      [&](int) { return algo::pagerank<Real>(w, g, opt, layout ? &*layout : nullptr); }, judge);
  count_teps(r, edges);

  const json& last = trials.back();
  say_ranks(w, r);
  r.line("convention", cmd.convention);
  r.line("layout", r["result"]["layout"].template get<std::string>());
  r.line("sweeps",
         fmt::format("{}, the last changed {:.4g}", last["iterations"].get<std::uint64_t>(),
                     last["change"].get<double>()));
  say_time(cmd, r);
  say_teps(r);
  r.line("mechanism", fmt::format("{}, {}, {}", cmd.variant, last["mechanism"].get<std::string>(),
                                  cmd.precision));
  say_chosen(r);
  return conclude(w, cmd, r, broken);
}

int run_command(const pagerank_command& cmd) {
  static_cast<void>(options_of(cmd));
  return on_graph("pagerank", cmd, cmd.variant == "pull", [&](world& w, const auto& g, report& r) {
    return cmd.precision == "float" ? run<float>(w, g, cmd, r) : run<double>(w, g, cmd, r);
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
  one_of("--convention", cmd->convention, "Whose PageRank: what becomes of sinks, when to stop",
         {"gap", "graphalytics", "networkx"});
  one_of("--variant", cmd->variant, "Who moves rank along an edge", {"pull", "push", "edge"});
  one_of("--sweep", cmd->sweep, "Whether a sweep reads what it has already made",
         {"auto", "jacobi", "in-place"});
  one_of("--aggregate", cmd->aggregate,
         "How push and edge add up without conflicts; off: operators by --mechanism",
         {"auto", "partials", "bins", "off"});
  one_of("--layout", cmd->layout,
         "Whether pull first orders the in-edges for speed; auto: if the trials repay it",
         {"none", "auto", "always"});
  one_of("--precision", cmd->precision, "Of ranks", {"float", "double"});
  command.add_option("--iterations,-i", cmd->iterations, "At most so many sweeps")
      ->check(whole_number())
      ->type_name("N");
  command.add_option("--tolerance,-t", cmd->tolerance, "Stop when a sweep changes less than this")
      ->type_name("E");
  command.add_option("--damping", cmd->damping, "Follow an edge with this probability")
      ->type_name("D");
  add_trials(command, *cmd, c, "Check the result by another sweep in double");
  command.callback([cmd, &chosen] { chosen = [cmd] { return run_command(*cmd); }; });
}

}  // namespace cairn::cli
