// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/base/random.hpp>

#include "cli/trials.hpp"

namespace cairn::cli {
namespace {

constexpr int most_draws = 1000;  // of a source

struct bfs_command : trial_options {
  using trial_options::trial_options;

  std::optional<std::uint64_t> source;  // as in the input
  std::string direction = "auto";
  std::string values = "depth";
};

algo::bfs_options options_of(const bfs_command& cmd) {
  algo::bfs_options opt;
  opt.activity = activity_of(cmd.c);
  opt.depths = cmd.verify || (!cmd.output.empty() && cmd.values == "depth");
  if (cmd.direction == "top-down") opt.direction = traverse::direction::push;
  if (cmd.direction == "bottom-up") opt.direction = traverse::direction::pull;
  return opt;
}

template <class Id>
std::uint64_t degree_anywhere(world& w, const graph::dist_csr<Id>& g, std::uint64_t v) {
  const bool mine = g.partition().owner(v) == w.rank();
  return w.sum(mine ? g.out().degree(v) : 0);
}

// The smallest that has edges.
template <class Id>
Id first_with_edges(world& w, const graph::dist_csr<Id>& g) {
  auto v = g.out().first();
  while (v < g.out().last() && g.out().degree(v) == 0) ++v;
  const auto none = no_vertex<std::uint64_t>;
  return static_cast<Id>(none - w.max(v == g.out().last() ? 0 : none - v));
}

// Trial t starts at the source asked for, else at a random vertex that has edges; where hardly any
// has, at the first.
template <class Id>
Id source_of_trial(world& w, const graph::dist_csr<Id>& g, const bfs_command& cmd, int trial) {
  if (cmd.source) return vertex_of(cmd.in, g, "source", cmd.source, 0);
  if (g.num_edges() == 0) return 0;
  random64 draw(cmd.in.seed, static_cast<std::uint64_t>(trial));
  for (int tries = 0; tries < most_draws; ++tries) {
    const auto v = draw.below(g.num_vertices());
    if (degree_anywhere(w, g, v) != 0) return static_cast<Id>(v);
  }
  return first_with_edges(w, g);
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
int run(world& w, const graph::dist_csr<Id>& g, const bfs_command& cmd, report& r) {
  const auto opt = options_of(cmd);
  std::vector<Id> roots;
  for (int i = 0; i < cmd.trials; ++i) roots.push_back(source_of_trial(w, g, cmd, i));
  std::vector<std::uint64_t> edges;
  json& trials = r["result"]["trials"] = json::array();
  const auto judge = [&](int trial, const algo::bfs_result<Id>& result) {
    const auto root = roots[static_cast<std::size_t>(trial)];
    const auto reached = count_reached(w, g, result.parent);
    edges.push_back(reached.edges);
    trials.push_back({{"source", g.labels().id_of(root)},
                      {"reached", reached.vertices},
                      {"edges", reached.edges},
                      {"levels", result.levels},
                      {"bottom_up_levels", result.bottom_up_levels},
                      {"mechanism", activity::name(result.mechanism)},
                      {"grain", result.grain},
                      {"chosen", result.chosen}});
    std::string fault;
    if (cmd.verify) {
      const auto* const depth = result.depth ? &*result.depth : nullptr;
      fault = algo::verify_bfs<Id>(w, g, root, result.parent, depth).value_or("");
    }
    if (!cmd.output.empty() && trial + 1 == cmd.trials) {
      write_values(w, cmd.output, cmd.values, g,
                   cmd.values == "depth" ? *result.depth : result.parent, cmd.values == "parent");
    }
    return fault;
  };
  const auto broken = run_trials(
      w, cmd, "breadth-first search", r,
      [&](int trial) { return algo::bfs<Id>(w, g, roots[static_cast<std::size_t>(trial)], opt); },
      judge);
  count_teps(r, edges);

  const json& last = trials.back();
  say_ranks(w, r);
  r.line("source", fmt::format("{}{}", last["source"].get<std::uint64_t>(),
                               cmd.trials > 1 ? fmt::format(" (last of {} trials)", cmd.trials)
                                              : std::string()));
  r.line("reached", fmt::format("{} vertices over {} levels ({} bottom-up)",
                                human_count(last["reached"].get<std::uint64_t>()),
                                last["levels"].get<std::uint64_t>(),
                                last["bottom_up_levels"].get<std::uint64_t>()));
  say_time(cmd, r);
  say_teps(r);
  r.line("mechanism", fmt::format("{}, grain {}", last["mechanism"].get<std::string>(),
                                  last["grain"].get<std::uint64_t>()));
  say_chosen(r);
  const auto aborts = [&](const char* cause) {
    return r["counters"][std::string("aborts_") + cause].get<std::uint64_t>();
  };
  r.line("aborts",
         fmt::format("{} conflict, {} capacity, {} explicit, {} other", aborts("conflict"),
                     aborts("capacity"), aborts("explicit"), aborts("other")));
  return conclude(w, cmd, r, broken);
}

}  // namespace

void add_bfs(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("bfs", "Breadth-first search: parents and depths");
  const auto cmd = std::make_shared<bfs_command>(c);
  command.add_option("--source,-r", cmd->source, "Start here (default: a random vertex a trial)")
      ->check(whole_number())
      ->type_name("ID");
  command.add_option("--direction", cmd->direction, "How levels are expanded")
      ->check(CLI::IsMember({"auto", "top-down", "bottom-up"}));
  command.add_option("--values", cmd->values, "What --output writes")
      ->check(CLI::IsMember({"depth", "parent"}));
  add_trials(command, *cmd, c, "Check the result by Graph500's five rules");
  command.callback([cmd, &chosen] {
    chosen = [cmd] {
      return on_graph("bfs", *cmd, cmd->direction != "top-down",
                      [&](world& w, const auto& g, report& r) { return run(w, g, *cmd, r); });
    };
  });
}

}  // namespace cairn::cli
