// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <cairn/algo/graphalytics.hpp>

#include "cli/costs.hpp"
#include "cli/facts.hpp"
#include "cli/input.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/trace.hpp"
#include "cli/unused_settings.hpp"

namespace cairn::cli {
namespace {

using algo::graphalytics_algorithm;
using graph::graphalytics_dataset;

// The algorithms of a data set, whose reference outputs exist.
std::vector<const graphalytics_algorithm*> algorithms_of(const graphalytics_dataset& from) {
  std::vector<const graphalytics_algorithm*> all;
  for (const auto& name : from.algorithms()) {
    all.push_back(&algo::graphalytics_algorithm_of(from, name));
    const auto file = from.reference_file(all.back()->ending);
    std::error_code unknown;
    if (std::filesystem::exists(file, unknown)) continue;
    throw input_error::in_file(file, fmt::format("there is no reference output of {}", name));
  }
  return all;
}

// Only shortest paths use weights.
bool need_lengths(const std::vector<const graphalytics_algorithm*>& algorithms) {
  return std::ranges::any_of(algorithms, [](const auto* a) { return a->name == "sssp"; });
}

graph::loaded_graph load(world& w, const common& c, const graphalytics_dataset& from,
                         bool as_lengths, report& r) {
  progress bar(!c.quiet && w.rank() == 0, from.name());
  graph::load_options options;
  options.build.inverse = true;
  options.read.weights.not_negative = as_lengths;
  options.read.progress = [&](auto done, auto all) { bar.at("loading ", done, all); };
  options.build.progress = [&](auto done, auto all) { bar.at("building ", done, all); };
  auto loaded = graph::load(w, from, options);
  auto& seconds = r["seconds"];
  seconds["load"] = seconds.value("load", 0.0) + loaded.load_seconds;
  seconds["build"] = seconds.value("build", 0.0) + loaded.build_seconds;
  return loaded;
}

json describe(const graphalytics_dataset& from, const graph::any_graph& any, report& r) {
  return std::visit(
      [&]<class Id>(const graph::dist_csr<Id>& g) -> json {
        r.line("graph", fmt::format("{}: {} vertices, {} {} edges", from.name(),
                                    format_count(g.num_vertices()), format_count(g.num_edges()),
                                    g.directed() ? "directed" : "undirected"));
        return {{"name", from.name()},      {"vertices", g.num_vertices()},
                {"edges", g.num_edges()},   {"directed", g.directed()},
                {"weighted", g.weighted()}, {"id_bits", sizeof(Id) * 8}};
      },
      any);
}

// Runs the algorithms of a data set. Returns the first wrong result in a sentence, or "".
std::string run_dataset(world& w, const common& c, const graphalytics_dataset& from,
                        phase_counts& counts, recording& rec, report& r) {
  std::vector<const graphalytics_algorithm*> algorithms;
  w.agree([&] { algorithms = algorithms_of(from); });
  const auto loaded = load(w, c, from, need_lengths(algorithms), r);
  counts.end(phase_counts::load);
  auto& result = r["result"];
  result["datasets"].push_back(describe(from, loaded.graph, r));
  std::string broken;
  for (const auto* const a : algorithms) {
    progress bar(!c.quiet && w.rank() == 0, std::string(a->name),
                 [&] { return w.counters().total(obs::counter::edges); });
    const auto outcome = [&] {
      const recording::part part(rec, a->name);
      return algo::run_graphalytics(
          w, loaded.graph, from, *a, {.start = start_of(c)},
          [&] { counts.end(phase_counts::load); },  // of the reference output
          [&] { counts.end(phase_counts::run); });
    }();
    counts.end(phase_counts::load_and_verify);
    json run = {{"dataset", from.name()},
                {"algorithm", a->name},
                {"command", a->command},
                {"seconds", outcome.seconds},
                {"vertices", outcome.compared},
                {"correct", !outcome.wrong},
                {"wrong", nullptr}};
    std::string verdict = "correct";
    if (const auto& wrong = outcome.wrong) {
      run["wrong"] = {
          {"vertex", wrong->vertex}, {"expected", wrong->expected}, {"found", wrong->found}};
      const auto says = fmt::format("vertex {} has {}, expected {}", wrong->vertex, wrong->found,
                                    wrong->expected);
      verdict = "WRONG: " + says;
      if (broken.empty()) broken = fmt::format("{} {}: {}", from.name(), a->name, says);
    }
    result["runs"].push_back(run);
    r["seconds"]["run"].push_back(outcome.seconds);
    r.line(std::string(a->name), fmt::format("{:<10} {:>12}  {}", format_seconds(outcome.seconds),
                                             format_count(outcome.compared), verdict));
  }
  return broken;
}

int run_datasets(world& w, const common& c, const std::vector<graphalytics_dataset>& datasets,
                 recording& rec, report& r) {
  r["seconds"]["load"] = r["seconds"]["build"] = 0.0;
  r["result"] = {{"datasets", json::array()}, {"runs", json::array()}};
  r.line("algorithm", fmt::format("{:<10} {:>12}  {}", "time", "vertices", "result"));
  phase_counts counts(w);
  std::string broken;
  for (const auto& from : datasets) {
    const auto wrong = run_dataset(w, c, from, counts, rec, r);
    if (broken.empty()) broken = wrong;
  }
  if (datasets.size() == 1) r["graph"] = r["result"]["datasets"][0];
  r["verified"] = broken.empty();
  r.line("ranks", fmt::format("{} x {} workers", w.size(), w.workers()));
  counts.report_to(r);
  rec.write(&r);
  return conclude(w, r, true, broken);
}

// The settings that no run of these algorithms uses, with the reason of one. Collective.
unused_reasons unused_by_all(const std::set<std::string_view>& commands, const common& c,
                             world& w) {
  std::optional<unused_reasons> all;
  for (const auto* const a : algo::algorithms()) {
    if (!commands.contains(a->info().name)) continue;
    const auto unused = unused_settings(c, *a, {}, w);
    if (!all) all = unused;
    std::erase_if(*all, [&](const auto& x) { return !unused.contains(x.first); });
  }
  return all.value_or(unused_reasons());
}

int run_command(const std::string& path, const common& c) {
  static_cast<void>(start_of(c));
  expect_trace(c, {path});
  warn_of_saved_costs(c);
  return run_ranks(c, [&](world& w) {
    report r("graphalytics", c, w);
    if (const auto costs = costs_in_use(c); !costs.empty()) r["settings"]["costs"] = costs;
    std::vector<graphalytics_dataset> datasets;
    std::set<std::string_view> commands;
    w.agree([&] {
      for (const auto& file : graph::graphalytics_files(path)) {
        const auto& from = datasets.emplace_back(file);
        for (const auto& name : from.algorithms()) {
          commands.insert(algo::graphalytics_algorithm_of(from, name).command);
        }
      }
      if (w.rank() == 0) expect_trace_writable(c);
    });
    refuse_unused(unused_by_all(commands, c, w));
    expect_groups_used(c, w, false);
    recording rec(w, c);
    return rec.run([&] { return run_datasets(w, c, datasets, rec, r); });
  });
}

}  // namespace

void add_graphalytics(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand(
      "graphalytics", "Run LDBC Graphalytics' algorithms and compare with its reference outputs");
  const auto path = std::make_shared<std::string>();
  command
      .add_option("--dataset", *path,
                  "A folder with NAME.properties, or such a file; several data sets are all run")
      ->type_name("DIR")
      ->check(not_empty())
      ->required();
  add_common(command, c, {.settings = algorithm_settings()});
  add_trace(command, c);
  command.callback([&c, path, &chosen] { chosen = [&c, path] { return run_command(*path, c); }; });
}

}  // namespace cairn::cli
