// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/base/random.hpp>

#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"

namespace cairn::cli {
namespace {

struct bfs_command {
  explicit bfs_command(const common& from) : c(from) {}

  const common& c;
  input_options in;
  std::optional<std::uint64_t> source;  // as in the input
  int trials = 1;
  bool verify = false;
  std::string direction = "auto";
  std::string output;
  std::string values = "depth";
};

algo::bfs_options options_of(const bfs_command& cmd) {
  algo::bfs_options opt;
  opt.activity.how = activity::parse_mechanism(cmd.c.settings.mechanism);
  opt.activity.grain = cmd.c.settings.grain;
  opt.activity.retry = tm::parse_retry(cmd.c.settings.retry);
  opt.activity.sent_filter = cmd.c.settings.filter_entries != 0;
  opt.depths = cmd.verify || (!cmd.output.empty() && cmd.values == "depth");
  if (cmd.direction == "top-down") opt.direction = algo::bfs_direction::top_down;
  if (cmd.direction == "bottom-up") opt.direction = algo::bfs_direction::bottom_up;
  return opt;
}

template <class Id>
std::uint64_t degree_anywhere(world& w, const graph::dist_csr<Id>& g, std::uint64_t v) {
  const bool mine = g.partition().owner(v) == w.rank();
  return w.sum(mine ? g.out().degree(v) : 0);
}

// Trial t starts at the source asked for, else at a random vertex that has edges.
template <class Id>
Id source_of_trial(world& w, const graph::dist_csr<Id>& g, const bfs_command& cmd, int trial) {
  if (cmd.source) {
    const auto v = g.labels().vertex_of(*cmd.source);
    if (!v) {
      throw usage_error(
          fmt::format("source {} is not a vertex of {}", *cmd.source, name_of(cmd.in)));
    }
    return static_cast<Id>(*v);
  }
  if (g.num_edges() == 0) return 0;
  random64 draw(cmd.in.seed, static_cast<std::uint64_t>(trial));
  for (;;) {
    const auto v = draw.below(g.num_vertices());
    if (degree_anywhere(w, g, v) != 0) return static_cast<Id>(v);
  }
}

struct reach {
  std::uint64_t vertices = 0, edges = 0;  // edges of the input, as TEPS counts them
};

template <class Id>
reach count_reached(world& w, const graph::dist_csr<Id>& g, const pgas::vertex_map<Id>& parent) {
  reach mine;
  for (std::uint64_t v = g.out().first(); v < g.out().last(); ++v) {
    if (parent.load(v) == no_vertex<Id>) continue;
    ++mine.vertices;
    mine.edges += g.out().degree(v);
  }
  const auto arcs = w.sum(mine.edges);
  return {w.sum(mine.vertices), g.directed() ? arcs : arcs / 2};
}

template <class Id>
int run_trials(world& w, const graph::dist_csr<Id>& g, const bfs_command& cmd, report& r) {
  const auto opt = options_of(cmd);
  std::vector<double> seconds, teps;
  json& trials = r["result"]["trials"] = json::array();
  std::string broken;
  for (int trial = 0; trial < cmd.trials && broken.empty(); ++trial) {
    const auto root = source_of_trial(w, g, cmd, trial);
    progress bar(!cmd.c.quiet && w.rank() == 0, "breadth-first search");
    bar.at(static_cast<std::uint64_t>(trial), static_cast<std::uint64_t>(cmd.trials));
    w.barrier();
    const auto start = w.clock().now_ns();
    const auto result = algo::bfs<Id>(w, g, root, opt);
    w.barrier();
    seconds.push_back(static_cast<double>(w.clock().now_ns() - start) * 1e-9);
    const auto reached = count_reached(w, g, result.parent);
    teps.push_back(seconds.back() > 0 ? static_cast<double>(reached.edges) / seconds.back() : 0);
    trials.push_back({{"source", g.labels().id_of(root)},
                      {"reached", reached.vertices},
                      {"edges", reached.edges},
                      {"levels", result.levels},
                      {"bottom_up_levels", result.bottom_up_levels},
                      {"mechanism", activity::name(result.mechanism)},
                      {"grain", result.grain},
                      {"chosen", result.chosen}});
    if (cmd.verify) {
      const auto* const depth = result.depth ? &*result.depth : nullptr;
      broken = algo::verify_bfs<Id>(w, g, root, result.parent, depth).value_or("");
    }
    if (!cmd.output.empty() && trial + 1 == cmd.trials) {
      write_values(w, cmd.output, cmd.values, g,
                   cmd.values == "depth" ? *result.depth : result.parent, cmd.values == "parent");
    }
  }
  r["seconds"]["run"] = seconds;
  r["teps"] = median(teps);
  if (cmd.verify) r["verified"] = broken.empty();
  r.count(w);

  const json& last = trials.back();
  r.line("ranks", fmt::format("{} x {} workers", w.size(), w.workers()));
  r.line("source", fmt::format("{}{}", last["source"].get<std::uint64_t>(),
                               cmd.trials > 1 ? fmt::format(" (last of {} trials)", cmd.trials)
                                              : std::string()));
  r.line("reached", fmt::format("{} vertices over {} levels ({} bottom-up)",
                                human_count(last["reached"].get<std::uint64_t>()),
                                last["levels"].get<std::uint64_t>(),
                                last["bottom_up_levels"].get<std::uint64_t>()));
  r.line("time", fmt::format("{} (median of {})", human_seconds(median(seconds)), cmd.trials));
  r.line("TEPS", fmt::format("{:.4g} million", median(teps) / 1e6));
  r.line("mechanism", fmt::format("{}, grain {}", last["mechanism"].get<std::string>(),
                                  last["grain"].get<std::uint64_t>()));
  say_chosen(r);
  const auto aborts = [&](const char* cause) {
    return r["counters"][std::string("aborts_") + cause].get<std::uint64_t>();
  };
  r.line("aborts",
         fmt::format("{} conflict, {} capacity, {} explicit, {} other", aborts("conflict"),
                     aborts("capacity"), aborts("explicit"), aborts("other")));
  if (cmd.verify) r.line("verified", broken.empty() ? "yes" : "NO: " + broken);
  r.print(w);
  if (!broken.empty() && w.rank() == 0) say("verification failed: " + broken);
  return broken.empty() ? 0 : 1;
}

int run_command(const bfs_command& cmd) {
  static_cast<void>(source_of(cmd.in));
  static_cast<void>(options_of(cmd));
  if (!cmd.output.empty()) check_output(cmd.output);
  graph::load_options options;
  options.build.inverse = cmd.direction != "top-down";
  options.build.keep_weights = false;
  graph_keeper graphs(cmd.in, options, !cmd.c.quiet);
  return run_ranks(cmd.c, [&](world& w) {
    report r("bfs", cmd.c, w);
    return std::visit([&](const auto& g) { return run_trials(w, g, cmd, r); }, graphs.get(w, r));
  });
}

}  // namespace

void add_bfs(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("bfs", "Breadth-first search: parents and depths");
  const auto cmd = std::make_shared<bfs_command>(c);
  add_input(command, cmd->in);
  command.add_option("--source,-r", cmd->source, "Start here (default: a random vertex a trial)")
      ->type_name("ID");
  command.add_option("--trials,-n", cmd->trials, "Searches to run")->check(CLI::PositiveNumber);
  command.add_option("--direction", cmd->direction, "How levels are expanded")
      ->check(CLI::IsMember({"auto", "top-down", "bottom-up"}));
  command.add_flag("--verify,-v", cmd->verify, "Check the result by Graph500's five rules");
  command.add_option("--output", cmd->output, "Write one row per vertex: .csv .tsv .npy, also .gz");
  command.add_option("--values", cmd->values, "What --output writes")
      ->check(CLI::IsMember({"depth", "parent"}));
  add_common(command, c);
  command.callback([cmd, &chosen] { chosen = [cmd] { return run_command(*cmd); }; });
}

}  // namespace cairn::cli
