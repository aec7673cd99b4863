// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <fmt/format.h>

#include <cairn/activity/cost_probe.hpp>
#include <cairn/activity/start_values.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/graph/io/output_file.hpp>

#include "cli/cluster_probe.hpp"
#include "cli/costs.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/saved_costs.hpp"

namespace cairn::cli {
namespace {

using activity::mechanism;

json crossing_json(const std::optional<double>& at) { return at ? json(*at) : json(nullptr); }

std::string crossing_text(const std::optional<double>& at) {
  return at ? fmt::format("{:.1f}", *at) : "none";
}

json line_json(const activity::cost_model& line) {
  return {
      {"per_vertex_ns", line.per_vertex}, {"fixed_ns", line.fixed}, {"r_squared", line.r_squared}};
}

std::string line_text(const activity::cost_model& line) {
  return fmt::format("{:>10.2f} {:>10.1f} {:>8.4f}", line.per_vertex, line.fixed, line.r_squared);
}

json fit_json(const activity::mechanism_cost& c, const activity::mechanism_cost& atomics,
              const activity::cost_model& small) {
  auto samples = json::array();
  for (std::size_t i = 0; i < c.samples.size(); ++i) {
    samples.push_back(
        {{"vertices", c.samples[i].vertices}, {"ns", c.samples[i].ns}, {"mad_ns", c.spread_ns[i]}});
  }
  json object{{"mechanism", activity::name(c.mechanism)}};
  object.update(line_json(c.model));
  object["start"] = line_json(small);
  object["samples"] = samples;
  if (c.mechanism == mechanism::atomics) return object;
  object["crossing"] = {
      {"predicted",
       crossing_json(activity::predicted_crossing({.fine = atomics.model, .coarse = c.model}))},
      {"measured",
       crossing_json(activity::measured_crossing({.fine = atomics.samples, .coarse = c.samples}))}};
  return object;
}

struct model_options {
  activity::cost_probe_options probe;
  std::string output;
  bool save = false;
};

// Writes the file on rank 0. Collective.
void write(world& w, const std::string& path, const std::string& text) {
  w.agree([&] {
    if (w.rank() != 0) return;
    graph::io::output_file file(path, check_of(w));
    file.write(text.data(), text.size());
    file.write("\n", 1);
    file.finish();
  });
}

int print_model(world& w, const common& c, const model_options& options) {
  if (w.size() > 1) throw usage_error("bench model measures one rank, not several");
  report r("bench model", c, w);
  const auto costs = activity::probe_costs(w, options.probe);
  const auto fitted = activity::fitted(costs);
  const auto& atomics = *activity::cost_of(costs, mechanism::atomics);
  auto all = json::array();
  r.line("activity", fmt::format("marks N of {} vertices, N = {}..{}, {} passes each",
                                 format_count(options.probe.vertices), options.probe.sizes.front(),
                                 options.probe.sizes.back(), options.probe.rounds));
  constexpr auto columns = "{:>10} {:>10} {:>8}   {}";
  r.line("mechanism",
         fmt::format(columns, "A, ns", "B, ns", "R^2", "all N; from which N it beats atomics"));
  for (const auto& cost : costs) {
    if (!cost.fault.empty()) throw std::runtime_error(cost.fault);
    all.push_back(fit_json(cost, atomics, *fitted.of(cost.mechanism)));
    auto text = line_text(cost.model);
    if (cost.mechanism != mechanism::atomics) {
      text += fmt::format("   predicted {}, measured {}",
                          crossing_text(activity::predicted_crossing(
                              {.fine = atomics.model, .coarse = cost.model})),
                          crossing_text(activity::measured_crossing(
                              {.fine = atomics.samples, .coarse = cost.samples})));
    }
    r.line(std::string(activity::name(cost.mechanism)), text);
  }
  if (!w.transactions().works)
    r.line("htm", "no hardware transactions: " + w.transactions().reason);
  r.line("for choices",
         fmt::format(columns, "A, ns", "B, ns", "R^2", "N up to 8; of htm and stm all N"));
  for (const auto& cost : costs) {
    r.line(std::string(activity::name(cost.mechanism)), line_text(*fitted.of(cost.mechanism)));
  }
  const auto start = activity::start_from(fitted);
  if (w.transactions().works) {
    r.line("start, one cell", start.htm_first ? fmt::format("htm, grain {}", start.htm_grain)
                                              : std::string("atomics"));
  }
  r.line("start, several", w.transactions().works ? fmt::format("htm, grain {}", start.htm_grain)
                           : start.stm_first      ? fmt::format("stm, grain {}", start.stm_grain)
                                                  : std::string("locks"));
  r["result"] = {{"vertices", options.probe.vertices},
                 {"passes", options.probe.rounds},
                 {"mechanisms", all},
                 {"start",
                  {{"htm_grain", start.htm_grain},
                   {"stm_grain", start.stm_grain},
                   {"htm_first", start.htm_first},
                   {"stm_first", start.stm_first}}}};
  const bool kept = options.save || !options.output.empty();
  const auto fault = kept ? activity::fault_of(fitted) : std::string();
  if (!fault.empty()) {
    r.line("written", "no: " + fault);
  } else if (!options.output.empty()) {
    write(w, options.output, fitted.text());
    r.line("written", fmt::format("--costs {}", options.output));
  }
  if (fault.empty() && options.save) {
    save_costs(saved_costs_file(c), fitted);
    r.line("saved", saved_costs_file(c));
  }
  r.count(w);
  r.print(w);
  if (!fault.empty())
    say("no costs are written: " + fault + "; more --passes or --vertices may help");
  return fault.empty() ? 0 : 1;
}

struct sim_options {
  int passes = 15;
  std::string output;
};

int print_costs(world& w, const common& c, const sim_options& options) {
  if (w.size() != 2 || w.workers() != 1) {
    throw usage_error("bench sim measures two ranks of one worker: --ranks 2 --threads 1");
  }
  report r("bench sim", c, w);
  std::vector<cluster_costs> found;
  for (int i = 0; i < options.passes; ++i) {
    world alone;
    found.push_back(probe_cluster(w, probe_rank(alone)));
  }
  const auto costs = cluster_costs::median(found);
  const auto& net = costs.network;
  r.line("packet",
         fmt::format("L {:.3g}, o {:.3g}, g {:.3g} us, G {:.3g} ns a byte", net.latency_ns * 1e-3,
                     net.overhead_ns * 1e-3, net.gap_ns * 1e-3, net.byte_ns));
  r.line("message", fmt::format("{:.2f} ns at each end", costs.message_ns));
  r.line("edge",
         fmt::format("{:.2f} ns, {:.2f} more on several ranks", costs.edge_ns, costs.owner_ns));
  r.line("commit", fmt::format("{:.2f} ns", costs.commit_ns));
  r["result"] = json::parse(costs.text());
  if (!options.output.empty()) {
    write(w, options.output, costs.text());
    r.line("written", fmt::format("--sim ranks=N,clock={}", options.output));
  }
  r.count(w);
  r.print(w);
  return 0;
}

void add_bench_sim(CLI::App& command, common& c, action& chosen) {
  auto& sim = *command.add_subcommand(
      "sim", "Measure costs of packets, messages, edges and commits, for --sim clock=FILE");
  auto used =
      settings_of({setting_group::workers, setting_group::processes, setting_group::messages});
  std::erase(used, "routing");  // two ranks have only direct routes
  for (const auto* const unused :
       {"progress", "helpers", "command-block", "queue-age", "channel-blocks"}) {
    std::erase(used, unused);  // the workers of --sim poll
  }
  add_common(sim, c, {.settings = used});
  const auto options = std::make_shared<sim_options>();
  sim.add_option("--passes", options->passes, "Number of passes; costs are medians")
      ->type_name("N")
      ->transform(unsigned_integer(1, 1 << 20))
      ->capture_default_str();
  add_file_to_write(sim, "--output", options->output, "Also write the costs to this file");
  sim.callback([&c, &chosen, options] {
    chosen = [&c, options] {
      auto on_ranks = c;  // default: two local ranks; variables are for other commands
      auto& config = on_ranks.settings;
      if (!c.given.contains("ranks")) config.ranks = 2;
      if (!c.given.contains("threads")) config.threads = 1;
      expect_effect(on_ranks);
      if (!options->output.empty()) check_writable(options->output);
      return run(
          config, [&](world& w) { return print_costs(w, on_ranks, *options); }, say);
    };
  });
}

}  // namespace

void add_bench(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("bench", "Measure costs on this machine");
  command.require_subcommand(1);
  auto& model = *command.add_subcommand(
      "model", "Fit T = A N + B to activities that modify N vertices, by mechanism");
  add_common(model, c, {.settings = {"pin"}});
  const auto options = std::make_shared<model_options>();
  model.add_option("--passes", options->probe.rounds, "Number of passes; times are medians")
      ->type_name("N")
      ->transform(unsigned_integer(1, 1 << 20))
      ->capture_default_str();
  model.add_option("--vertices", options->probe.vertices, "Number of vertices to mark")
      ->type_name("N")
      ->transform(unsigned_integer(64, std::uint64_t{1} << 31))
      ->capture_default_str();
  add_file_to_write(model, "--output", options->output,
                    "Write the fitted costs to this file, for --costs");
  model.add_flag("--save", options->save,
                 "Save the fitted costs as the defaults of all commands on this machine");
  model.callback([&c, &chosen, options] {
    chosen = [&c, options] {
      if (options->save && c.settings.cache_folder.empty())
        throw usage_error(
            "--save keeps costs below XDG_CACHE_HOME or HOME, neither of which is set");
      auto alone = c;  // its variables are for other commands
      alone.settings.ranks = 0;
      expect_effect(alone);
      if (!options->output.empty()) check_writable(options->output);
      if (options->save) prepare_to_save(saved_costs_file(c));
      return run(
          alone.settings, [&](world& w) { return print_model(w, alone, *options); }, say);
    };
  });
  add_bench_sim(command, c, chosen);
}

}  // namespace cairn::cli
