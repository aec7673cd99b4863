// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <cairn/algo/bfs.hpp>

#include <CLI/CLI.hpp>
#include <bench/figures/claims.hpp>
#include <bench/harness.hpp>

namespace cairn::bench {

/// One figure of a paper: a sweep that records points, and what they must show.
struct figure {
  using record_function = std::function<void(nlohmann::json point)>;

  std::string name;
  const char* description;
  std::function<void(CLI::App&)> add_options;
  std::function<void(harness&, const record_function&)> sweep;
  std::function<void(world&, harness&, const record_function&)> sweep_on_ranks;
  verdict (*check)(points);
};

/// The main() of a figure: runs the sweep, or with --recorded FILE takes the last one of a file
/// of lines, checks the claim and adds the verdict to the lines. A claim that does not hold is a
/// result, not a failure.
///
/// Returns   as run_program
int run_figure(int argc, char** argv, const figure& f);

/// The same over ranks, by sweep_on_ranks: rank 0 keeps and judges the points.
int run_figure_on_ranks(int argc, char** argv, const figure& f);

/// 1, 2, 4, ..., and all cores.
[[nodiscard]] std::vector<int> all_thread_counts();

/// What the figures of breadth-first search have in common: top-down searches from one source.
struct search_options {
  std::string file;  ///< of a graph, read as undirected; empty: a Kronecker graph
  int scale = 20;
  int edge_factor = 16;
  std::uint64_t seed = 1;
  std::vector<int> threads;  ///< default: 1, and all cores

  search_options();
  void add_to(CLI::App& app);
};

/// The searches that one subject has made, warm-ups included.
struct search_log {
  std::uint64_t searches = 0;
  std::vector<std::vector<traverse::step_record>> traces;
  counter_totals counted{};

  [[nodiscard]] std::uint64_t count(obs::counter c) const {
    return counted[static_cast<std::size_t>(c)];
  }
};

/// {cause: number}
[[nodiscard]] nlohmann::json aborts_of(const counter_totals& counted);
/// {"searches", "attempts", "aborts": {cause: number}, "splits", "fallbacks"} of them.
[[nodiscard]] nlohmann::json counts_of(const search_log& log);

/// A world of T workers with a Kronecker graph and a source.
class search_stage {
 public:
  search_stage(const search_options& options, int threads);
  ~search_stage();

  [[nodiscard]] world& on() noexcept;
  /// The same search by bench/baselines/bfs_threads.hpp on as many threads.
  [[nodiscard]] subject by_hand();
  /// The same search by the vertex program of bench/baselines/vertex_program.hpp.
  [[nodiscard]] subject by_vertex_program();
  /// Top-down search in that way. The stage and the log outlive the subject.
  [[nodiscard]] subject search(const activity::options& how, search_log& log);

 private:
  struct state;
  template <class Search>
  subject by_baseline(const char* name, Search by);
  std::unique_ptr<state> state_;
};

}  // namespace cairn::bench
