// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/st_connectivity.hpp>
#include <cairn/base/random.hpp>

#include "cli/trials.hpp"

namespace cairn::cli {
namespace {

struct st_command : trial_options {
  using trial_options::trial_options;
  std::optional<std::uint64_t> from, to;  // as in the input
};

// A whole search from s, which shares nothing with the two that met but the graph.
template <class Id>
std::string check(world& w, const graph::dist_csr<Id>& g, Id s, Id t, bool connected) {
  const auto parent = algo::bfs<Id>(w, g, s).parent;
  const bool reached = w.any(parent.owns(t) && parent.load(t) != no_vertex<Id>);
  if (reached == connected) return "";
  return fmt::format("a breadth-first search from {} {} {}", g.labels().id_of(s),
                     reached ? "reaches" : "does not reach", g.labels().id_of(t));
}

template <class Id>
int run(world& w, const graph::dist_csr<Id>& g, const st_command& cmd, report& r) {
  const algo::st_connectivity_options opt{.activity = activity_of(cmd.c)};
  json& trials = r["result"]["trials"] = json::array();
  const auto ends = [&](int trial) {
    random64 draw(cmd.in.seed, static_cast<std::uint64_t>(trial));
    const auto s = draw.below(g.num_vertices()), t = draw.below(g.num_vertices());
    return std::pair(vertex_of(cmd.in, g, "--from", cmd.from, s),
                     vertex_of(cmd.in, g, "--to", cmd.to, t));
  };
  const auto broken = run_trials(
      w, cmd, "st-connectivity", r,
      [&](int trial) {
        const auto [s, t] = ends(trial);
        return algo::st_connectivity<Id>(w, g, s, t, opt);
      },
      [&](int trial, const algo::st_connectivity_result& found) -> std::string {
        const auto [s, t] = ends(trial);
        trials.push_back({{"from", g.labels().id_of(s)},
                          {"to", g.labels().id_of(t)},
                          {"connected", found.connected},
                          {"levels", found.levels},
                          {"visited", found.visited},
                          {"mechanism", activity::name(found.mechanism)},
                          {"grain", found.grain},
                          {"chosen", found.chosen}});
        return cmd.verify ? check<Id>(w, g, s, t, found.connected) : "";
      });
  const json& last = trials.back();
  r.line("connected", fmt::format("{} to {}: {}", last["from"].get<std::uint64_t>(),
                                  last["to"].get<std::uint64_t>(),
                                  last["connected"].get<bool>() ? "yes" : "no"));
  r.line("visited",
         fmt::format("{} vertices in {} levels", human_count(last["visited"].get<std::uint64_t>()),
                     last["levels"].get<std::uint64_t>()));
  return finish(w, cmd, r, broken);
}

}  // namespace

void add_st_connectivity(CLI::App& app, common& c, action& chosen) {
  auto& command =
      *app.add_subcommand("st-connectivity", "Whether a path leads from one vertex to another");
  const auto cmd = std::make_shared<st_command>(c);
  command.add_option("--from", cmd->from, "Start of the path (default: a random vertex a trial)")
      ->check(whole_number())
      ->type_name("ID");
  command.add_option("--to", cmd->to, "Its end (default: a random vertex a trial)")
      ->check(whole_number())
      ->type_name("ID");
  add_trials(command, *cmd, c, "Check by a breadth-first search", false);
  command.callback([cmd, &chosen] {
    chosen = [cmd] {
      return on_graph("st-connectivity", *cmd, true,
                      [&](world& w, const auto& g, report& r) { return run(w, g, *cmd, r); });
    };
  });
}

}  // namespace cairn::cli
