// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cairn/algo/maxflow.hpp>
#include <cairn/base/random.hpp>

#include "cli/trials.hpp"

namespace cairn::cli {
namespace {

struct maxflow_command : trial_options {
  using trial_options::trial_options;
  std::optional<std::uint64_t> from, to;  // as in the input
};

// Vertices that were drawn differ.
template <class Id>
std::pair<Id, Id> ends_of(const maxflow_command& cmd, const graph::dist_csr<Id>& g, int trial) {
  if (g.num_vertices() < 2) throw usage_error("a flow needs two vertices");
  random64 draw(cmd.in.seed, static_cast<std::uint64_t>(trial));
  const auto other = [&](Id v) {
    return (v + 1 + draw.below(g.num_vertices() - 1)) % g.num_vertices();
  };
  const auto t = vertex_of(cmd.in, g, "--to", cmd.to, draw.below(g.num_vertices()));
  const auto s = vertex_of(cmd.in, g, "--from", cmd.from, other(t));
  if (s != t) return {s, t};
  if (!cmd.to) return {s, static_cast<Id>(other(s))};
  throw usage_error(fmt::format("--from and --to are the same vertex, {}", *cmd.to));
}

template <class Id>
int run(world& w, const graph::dist_csr<Id>& g, const maxflow_command& cmd, report& r) {
  if (g.weighted() && !g.out().template weighted_by<std::int32_t>()) {
    throw usage_error("the weights of " + name_of(cmd.in) +
                      " are not whole numbers of 32 bits, as capacities are");
  }
  const algo::maxflow_options opt{.activity = activity_of(cmd.c)};
  json& trials = r["result"]["trials"] = json::array();
  const auto broken = run_trials(
      w, cmd, "maximum flow", r,
      [&](int trial) {
        const auto [s, t] = ends_of(cmd, g, trial);
        try {
          return algo::maxflow<Id>(w, g, s, t, opt);
        } catch (const input_error& e) {
          throw input_error(name_of(cmd.in) + ": " + e.what());
        }
      },
      [&](int trial, const algo::maxflow_result<Id>& f) -> std::string {
        const auto [s, t] = ends_of(cmd, g, trial);
        trials.push_back({{"from", g.labels().id_of(s)},
                          {"to", g.labels().id_of(t)},
                          {"value", f.value},
                          {"pulses", f.pulses},
                          {"searches", f.searches},
                          {"weighted", g.weighted()},
                          {"mechanism", activity::name(f.mechanism)},
                          {"grain", f.grain},
                          {"chosen", f.chosen}});
        if (!cmd.output.empty() && trial + 1 == cmd.trials) {
          write_values(w, cmd.output, "source_side", g, f.source_side);
        }
        if (!cmd.verify) return "";
        return algo::verify_maxflow<Id>(w, g, s, t, f.value, f.flow, f.source_side).value_or("");
      });
  const json& last = trials.back();
  r.line("flow", fmt::format("{} from {} to {}{}", last["value"].get<std::int64_t>(),
                             last["from"].get<std::uint64_t>(), last["to"].get<std::uint64_t>(),
                             g.weighted() ? "" : " (each edge carries 1)"));
  r.line("pulses", fmt::format("{}, {} searches", human_count(last["pulses"].get<std::uint64_t>()),
                               last["searches"].get<std::uint64_t>()));
  return finish(w, cmd, r, broken);
}

}  // namespace

void add_maxflow(CLI::App& app, common& c, action& chosen) {
  auto& command =
      *app.add_subcommand("maxflow", "Maximum flow and minimum cut between two vertices");
  const auto cmd = std::make_shared<maxflow_command>(c);
  command.add_option("--from", cmd->from, "Where the flow starts (default: random, per trial)")
      ->check(whole_number())
      ->type_name("ID");
  command.add_option("--to", cmd->to, "Where it ends (default: random, per trial)")
      ->check(whole_number())
      ->type_name("ID");
  add_trials(command, *cmd, c, "Check flow and cut, whose values must be equal");
  command.callback([cmd, &chosen] {
    chosen = [cmd] {
      return on_graph(
          "maxflow", *cmd, false,
          [&](world& w, const auto& g, report& r) { return run(w, g, *cmd, r); }, weights::kept);
    };
  });
}

}  // namespace cairn::cli
