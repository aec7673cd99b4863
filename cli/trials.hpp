// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/base/error.hpp>
#include <cairn/graph/load.hpp>

#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"

namespace cairn::cli {

/// What every command that runs an algorithm asks for.
struct trial_options {
  explicit trial_options(const common& from) : c(from) {}

  const common& c;
  input_options in;
  int trials = 1;
  bool verify = false;
  std::string output;  ///< empty: none is written
};

/// Adds INPUT, --trials, --verify (which `checks` describes), --output if there is one, and the
/// common options.
void add_trials(CLI::App& command, trial_options& t, common& c, const std::string& checks,
                bool has_output = true);

/// The mechanism, grain, filter, retries and start values that the settings ask for.
///
/// Throws    usage_error or input_error
[[nodiscard]] activity::options activity_of(const common& c);

/// Where bench model --save keeps this machine's costs; empty: there is no cache folder.
[[nodiscard]] std::string saved_costs_file(const common& c);
/// The file of costs from which choices begin: the one that was asked for, else the saved one if it
/// can be used; empty: none.
[[nodiscard]] std::string costs_in_use(const common& c);
/// Says so if there are saved costs that cannot be used.
void warn_of_saved_costs(const common& c);

/// The vertex with the id that `option` gave, as in the input; without one, `otherwise`.
///
/// Throws    usage_error if the graph has no such vertex
template <class Id>
[[nodiscard]] Id vertex_of(const input_options& in, const graph::dist_csr<Id>& g,
                           const std::string& option, const std::optional<std::uint64_t>& id,
                           std::uint64_t otherwise) {
  if (!id) return static_cast<Id>(otherwise);
  const auto v = g.labels().vertex_of(*id);
  if (v) return static_cast<Id>(*v);
  throw usage_error(option + " " + std::to_string(*id) + " is not a vertex of " + name_of(in));
}

/// Whether an algorithm reads the edges' weights.
enum class weights { dropped, kept };

/// Calls body(world, graph, report) on the ranks that the settings ask for, once the graph is
/// there; its value is the exit status. Options that make no sense are refused before anything
/// is loaded.
///
/// inverse   a directed graph needs its in-edges
template <class Body>
int on_graph(const std::string& command, const trial_options& t, bool inverse, Body&& body,
             weights use = weights::dropped) {
  static_cast<void>(source_of(t.in));
  static_cast<void>(activity_of(t.c));
  warn_of_saved_costs(t.c);
  if (!t.output.empty()) check_output(t.output);
  graph::load_options options;
  options.build.inverse = inverse;
  options.build.keep_weights = use == weights::kept;
  graph_keeper graphs(t.in, options, !t.c.quiet);
  return run_ranks(t.c, [&](world& w) {
    report r(command, t.c, w);
    if (const auto costs = costs_in_use(t.c); !costs.empty()) r["settings"]["costs"] = costs;
    w.agree([&] {
      if (!t.output.empty() && w.rank() == 0) check_writable(t.output, t.in.file);
    });
    return std::visit([&](const auto& g) { return body(w, g, r); }, graphs.get(w, r));
  });
}

/// Runs trials and fills in the parts of the report that all algorithms share.
///
/// what       for the progress bar: "PageRank"
/// run        run(trial) is timed; what it returns goes to
/// judge      judge(trial, result) says what is wrong with it, or "", and adds to the report;
///            the trials end after the first wrong result
/// Returns    what was wrong, or ""
/// Collective.
template <class Run, class Judge>
std::string run_trials(world& w, const trial_options& t, const std::string& what, report& r,
                       Run&& run, Judge&& judge) {
  std::vector<double> seconds;
  std::string broken;
  for (int trial = 0; trial < t.trials && broken.empty(); ++trial) {
    progress bar(!t.c.quiet && w.rank() == 0, what);
    bar.at(static_cast<std::uint64_t>(trial), static_cast<std::uint64_t>(t.trials));
    w.barrier();
    const auto start = w.clock().now_ns();
    const auto result = run(trial);
    w.barrier();
    seconds.push_back(static_cast<double>(w.clock().now_ns() - start) * 1e-9);
    broken = judge(trial, result);
  }
  r["seconds"]["run"] = seconds;
  if (t.verify) r["verified"] = broken.empty();
  r.count(w);
  return broken;
}

/// The rate at which the trials passed so many edges each: in the report; its line is say_teps'.
void count_teps(report& r, const std::vector<std::uint64_t>& edges);

/// Lines of the report.
void say_ranks(const world& w, report& r);
void say_time(const trial_options& t, report& r);
void say_teps(report& r);

/// The line that says whether results were right. Prints, and returns the exit status.
int conclude(world& w, const trial_options& t, report& r, const std::string& broken);

/// The lines of the report after the command's own: mechanism, ranks, time, verified. Prints, and
/// returns the exit status. Collective.
int finish(world& w, const trial_options& t, report& r, const std::string& broken);

}  // namespace cairn::cli
