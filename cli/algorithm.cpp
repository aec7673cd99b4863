// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <iterator>
#include <limits>
#include <span>

#include <fmt/format.h>

#include <cairn/algo/algorithm.hpp>
#include <cairn/graph/io/edge_list.hpp>
#include <cairn/graph/io/table.hpp>

#include "cli/costs.hpp"
#include "cli/facts.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/trace.hpp"
#include "cli/unused_settings.hpp"

namespace cairn::cli {
namespace {

struct algorithm_command {
  algorithm_command(const algo::algorithm& which, const common& from) : a(which), c(from) {}

  const algo::algorithm& a;
  const common& c;
  input_options in;
  algo::option_values given;
  int trials = 1;
  bool verify = false;
  std::string output, values;  // empty: no output; the first column
  std::string paths, forest;   // empty: none

  // The column to write; empty: none.
  [[nodiscard]] std::string_view column() const {
    if (output.empty()) return {};
    return values.empty() ? a.columns().front().name : std::string_view(values);
  }
  [[nodiscard]] std::string name() const { return std::string(a.info().name); }
};

void add_options(CLI::App& command, algorithm_command& cmd) {
  for (const auto& o : cmd.a.options()) {
    add_algorithm_option(command, o, cmd.given,
                         o.absent.empty() ? std::string(o.meaning)
                                          : fmt::format("{} (default: {})", o.meaning, o.absent));
  }
  command.add_option("--trials,-n", cmd.trials, "Number of runs (default: 1)")
      ->type_name("N")
      ->transform(unsigned_integer(1, std::numeric_limits<int>::max()));
  command.add_flag("--verify,-v", cmd.verify, std::string(cmd.a.info().check));
  if (cmd.a.info().paths) {
    add_file_to_write(command, "--paths", cmd.paths,
                      "Write one row of vertices per walk of the last trial: .csv .tsv .txt, also "
                      ".gz .zst .xz");
  }
  if (cmd.a.info().forest) {
    add_file_to_write(command, "--forest", cmd.forest,
                      "Write the edges of the forest of the last trial: .el .txt .wel .csv, also "
                      ".gz .zst .xz");
  }
  const auto columns = cmd.a.columns();
  if (columns.empty()) return;
  add_file_to_write(
      command, "--output", cmd.output,
      "Write one row per vertex, of the last trial: .csv .tsv .npy, also .gz .zst .xz");
  if (columns.size() == 1) return;
  std::vector<std::string> names;
  for (const auto& x : columns) names.emplace_back(x.name);
  command.add_option("--values", cmd.values, "The values that --output writes")
      ->check(CLI::IsMember(names));
}

struct named_file {
  std::string_view option;
  const std::string& path;  // empty: none
};

std::array<named_file, 3> outputs_of(const algorithm_command& cmd) {
  return {{{"output", cmd.output}, {"paths", cmd.paths}, {"forest", cmd.forest}}};
}

void expect_different_files(std::span<const named_file> files) {
  for (auto a = files.begin(); a != files.end(); ++a) {
    for (auto b = std::next(a); b != files.end(); ++b) {
      if (a->path.empty() || b->path.empty() || !is_same_file(a->path, b->path)) continue;
      throw usage_error(
          fmt::format("{}: --{} and --{} name the same file", b->path, a->option, b->option));
    }
  }
}

// Rejects invalid options before anything is loaded.
void expect_options(const algorithm_command& cmd) {
  static_cast<void>(source_of(cmd.in));
  static_cast<void>(start_of(cmd.c));
  cmd.a.check_options(cmd.given);
  expect_seed(cmd.in, cmd.a.uses_seed(cmd.given));
  if (!cmd.values.empty() && cmd.output.empty()) {
    throw usage_error("--values selects what --output writes, and there is no --output");
  }
  if (!cmd.output.empty()) check_output(cmd.output);
  if (!cmd.paths.empty()) check_paths_output(cmd.paths);
  if (!cmd.forest.empty()) graph::io::expect_edge_list_holds(cmd.forest, true);
  for (const auto& file : outputs_of(cmd)) {
    if (!file.path.empty()) expect_one_seed(cmd.c, file.option);
  }
  expect_different_files(outputs_of(cmd));
  expect_trace(cmd.c, {cmd.in.file, cmd.output, cmd.paths, cmd.forest});
}

// Rejects settings that the run does not use.
void expect_settings_used(const algorithm_command& cmd, world& w) {
  if (!cmd.in.partition.empty()) expect_several_ranks(w, "partition");
  if (!cmd.a.without_operators(cmd.given, w).empty()) return;
  expect_groups_used(cmd.c, w, cmd.a.info().several_cells);
}

void expect_graph(const algorithm_command& cmd, const graph::any_graph& graph) {
  if (!cmd.output.empty()) {
    graph::io::expect_table_holds(cmd.output, labels_of(graph).textual());
  }
  if (!cmd.forest.empty()) {
    const bool weighted = std::visit([](const auto& g) { return g.weighted(); }, graph);
    graph::io::expect_edge_list_holds(cmd.forest, weighted);
  }
  expect_directions(cmd.a, graph, cmd.in);
}

json trial_of(const algo::run_result& found, const graph::any_graph& g) {
  json trial = facts_of(found, g);
  const auto& ran = found.ran();
  trial["mechanism"] = activity::name(ran.mechanism);
  trial["grain"] = ran.grain;
  trial["chosen"] = ran.why;
  return trial;
}

// The median over trials of edges per second.
double rate_of(const std::vector<std::uint64_t>& edges, const std::vector<double>& seconds) {
  std::vector<double> rates;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    rates.push_back(seconds[i] > 0 ? static_cast<double>(edges[i]) / seconds[i] : 0);
  }
  return median(std::move(rates));
}

void say_trials(const algorithm_command& cmd, const world& w, report& r) {
  const json& result = r["result"];
  const json& last = result["trials"].back();
  r.line("ranks", fmt::format("{} x {} workers", w.size(), w.workers()));
  const auto seconds = r["seconds"]["run"].get<std::vector<double>>();
  r.line("time", fmt::format("{} (median of {})", format_seconds(median(seconds)), cmd.trials));
  if (!r["teps"].is_null()) {
    r.line("TEPS", format_rate(r["teps"].get<double>()));
  }
  if (result.contains("edges_per_second")) {
    r.line("rate", format_rate(result["edges_per_second"].get<double>()) + " edges/s");
  }
  r.line("mechanism", fmt::format("{}, grain {}", last["mechanism"].get<std::string>(),
                                  last["grain"].get<std::uint64_t>()));
  if (const auto why = last["chosen"].get<std::string>(); !why.empty()) r.line("chosen", why);
  const auto costs = r["settings"]["costs"].get<std::string>();
  if (costs != "auto" && costs != "none") r.line("costs", costs);
  if (!cmd.a.without_operators(cmd.given, w).empty()) return;
  const auto aborts = [&](const char* cause) {
    return r["counters"][std::string("aborts_") + cause].get<std::uint64_t>();
  };
  r.line("aborts",
         fmt::format("{} conflict, {} capacity, {} explicit, {} other", aborts("conflict"),
                     aborts("capacity"), aborts("explicit"), aborts("other")));
}

void write_outputs(world& w, const algorithm_command& cmd, const graph::any_graph& g,
                   const algo::run_result& found) {
  if (!cmd.output.empty()) {
    for (const auto& x : found.columns()) {
      if (x.name == cmd.column()) write_column(w, cmd.output, g, x);
    }
  }
  if (!cmd.paths.empty()) write_paths(w, cmd.paths, labels_of(g), *found.paths());
  if (!cmd.forest.empty()) write_forest(w, cmd.forest, g, *found.forest());
}

int run_trials(world& w, const graph::any_graph& g, const algorithm_command& cmd, recording& rec,
               report& r) {
  const auto given = with_flow_terminals(w, cmd.in, cmd.a, cmd.given);
  expect_seed(cmd.in, cmd.a.uses_seed(given));
  const bool shows = !cmd.c.quiet && w.rank() == 0;
  w.barrier();
  const auto begin = w.clock().now_ns();
  const auto graph = with_path_of_graph(cmd.in, [&] {
    const recording::part part(rec, "build");
    const progress bar(shows, "preparing " + cmd.name());
    return cmd.a.bind(w, g, given, static_cast<std::uint64_t>(cmd.trials));
  });
  w.barrier();
  r["seconds"]["build"] =
      r["seconds"]["build"].get<double>() + static_cast<double>(w.clock().now_ns() - begin) * 1e-9;
  say_load(r);
  const activity::options operators{.start = start_of(cmd.c)};
  phase_counts counts(w);
  std::vector<std::uint64_t> edges;
  std::vector<double> seconds;
  std::string broken;
  json& trials = r["result"]["trials"] = json::array();
  for (int trial = 0; trial < cmd.trials && broken.empty(); ++trial) {
    const auto run = with_path_of_graph(cmd.in, [&] {
      return graph->prepare({.activity = operators,
                             .seed = seed_of(cmd.in),
                             .trial = static_cast<std::uint64_t>(trial),
                             .verify = cmd.verify,
                             .output = cmd.column(),
                             .paths = !cmd.paths.empty()});
    });
    std::unique_ptr<algo::run_result> found;
    {
      progress bar(shows, cmd.name(), [&] { return w.counters().total(obs::counter::edges); });
      if (cmd.trials > 1) {
        bar.at(static_cast<std::uint64_t>(trial), static_cast<std::uint64_t>(cmd.trials));
      }
      w.barrier();
      counts.end(phase_counts::load_and_verify);
      const recording::part part(rec, "trial", static_cast<std::uint32_t>(trial));
      const auto start = w.clock().now_ns();
      found = with_path_of_graph(cmd.in, [&] { return run->run(); });
      w.barrier();
      seconds.push_back(static_cast<double>(w.clock().now_ns() - start) * 1e-9);
      counts.end(phase_counts::run);
    }
    found->count();
    edges.push_back(found->edges());
    trials.push_back(trial_of(*found, g));
    if (cmd.verify) {
      const progress bar(shows, "verifying " + cmd.name());
      broken = found->verify().value_or("");
    }
    if (trial + 1 == cmd.trials || !broken.empty()) say_facts(r, cmd.a, *found, g);
    if (trial + 1 == cmd.trials && broken.empty()) {
      const progress bar(shows, "writing the output of " + cmd.name());
      write_outputs(w, cmd, g, *found);
    }
  }
  r["seconds"]["run"] = seconds;
  if (cmd.verify) r["verified"] = broken.empty();
  if (cmd.a.counts_teps()) {
    r["teps"] = rate_of(edges, seconds);
  } else if (edges.back() != 0) {
    r["result"]["edges_per_second"] = rate_of(edges, seconds);
  }
  counts.end(phase_counts::load_and_verify);
  counts.report_to(r);
  rec.write(&r);
  say_trials(cmd, w, r);
  return conclude(w, r, cmd.verify, broken);
}

// The weights that the reader of a text file accepts.
graph::io::weight_rule rule_of(algo::weights_read needed) {
  using algo::weights_read;
  using graph::io::weight_numbers;
  const bool integer = needed == weights_read::integer;
  return {.numbers = integer ? weight_numbers::integer_of_32_bits : weight_numbers::real,
          .not_negative = integer || needed == weights_read::lengths};
}

int run_command(const algorithm_command& cmd) {
  expect_options(cmd);
  warn_of_saved_costs(cmd.c);
  graph::load_options options;
  options.build.inverse = cmd.a.info().in_edges;
  options.build.keep_weights = cmd.a.info().weights != algo::weights_read::none;
  options.read.weights = rule_of(cmd.a.info().weights);
  graph_keeper graphs(cmd.in, options, !cmd.c.quiet);
  const auto expect_used = [&](world& w) {
    refuse_unused(unused_settings(cmd.c, cmd.a, cmd.given, w));
  };
  return run_ranks(cmd.c, expect_used, [&](world& w) {
    expect_settings_used(cmd, w);
    report r(cmd.name(), cmd.c, w);
    if (const auto costs = costs_in_use(cmd.c); !costs.empty()) r["settings"]["costs"] = costs;
    w.agree([&] {
      if (w.rank() != 0) return;
      for (const auto& file : outputs_of(cmd)) {
        if (!file.path.empty()) check_writable(file.path, cmd.in.file);
      }
      expect_trace_writable(cmd.c);
    });
    recording rec(w, cmd.c);
    return rec.run([&] {
      const auto& g = graphs.get(w, r);
      expect_graph(cmd, g);
      return run_trials(w, g, cmd, rec, r);
    });
  });
}

// Settings that no run of the algorithm uses.
std::vector<std::string_view> never_used(const algo::algorithm_info& info) {
  using enum setting_group;
  std::vector<std::string_view> unused;
  if (!info.no_operators.empty()) unused = settings_of({filter, operators});
  if (info.direct) unused.emplace_back("routing");
  if (!info.filters) unused.emplace_back("filter");
  if (!info.to_owners) unused.emplace_back("deliver");
  if (!info.in_order) unused.insert(unused.end(), {"frequency", "lead"});
  return unused;
}

}  // namespace

void add_algorithms(CLI::App& app, common& c, action& chosen) {
  for (const auto* const a : algo::algorithms()) {
    const auto& info = a->info();
    auto& command = *app.add_subcommand(std::string(info.name), std::string(info.summary));
    if (!info.also.empty()) command.alias(std::string(info.also));
    const auto cmd = std::make_shared<algorithm_command>(*a, c);
    // Options are added when the command is met: for all commands they take most of the time in
    // which the program starts.
    command.preparse_callback([cmd, a, &command, &c](std::size_t) {
      add_input(command, cmd->in);
      add_options(command, *cmd);
      add_common(command, c, {.settings = algorithm_settings(), .unused = never_used(a->info())});
      add_trace(command, c);
    });
    command.callback([cmd, &chosen] { chosen = [cmd] { return run_command(*cmd); }; });
  }
}

}  // namespace cairn::cli
