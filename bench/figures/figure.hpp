// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <cairn/algo/bfs.hpp>

#include <bench/argument_list.hpp>
#include <bench/harness.hpp>

namespace cairn::bench {

/// One figure of a paper: a sweep that records points. The Python file of the same name holds the
/// paper's claims and the plots.
struct figure {
  using record_function = std::function<void(nlohmann::json point)>;

  std::string name;
  const char* description;
  std::function<void(argument_list&)> add_options;
  std::function<void(harness&, const record_function&)> sweep;
  std::function<void(world&, harness&, const record_function&)> sweep_on_ranks;
};

/// The main() of a figure: runs the sweep. Each point is a line of the harness with "figure": its
/// name, and is printed on standard error. The last line is {"figure", "points": their number}. A
/// point that could not be measured gives the reason: {"no_htm": reason}.
///
/// Returns   as run_program
int run_figure(int argc, char** argv, const figure& f);

/// As run_figure over ranks, by sweep_on_ranks: rank 0 writes the points.
int run_figure_on_ranks(int argc, char** argv, const figure& f);

/// 1, 2, 4, ..., and the number of cores.
[[nodiscard]] std::vector<int> all_thread_counts();

/// Options common to the figures of breadth-first search: top-down searches from one source.
struct search_options {
  std::string file;  ///< a graph file, read as undirected; empty: a Kronecker graph
  int scale = 20;
  int edge_factor = 16;
  std::uint64_t seed = 1;
  std::vector<int> threads;  ///< default: 1 and the number of cores

  search_options();
  void add_to(argument_list& arguments);
};

/// The searches of one subject, including warm-ups.
struct search_log {
  std::uint64_t searches = 0;
  std::vector<std::vector<traverse::superstep_record>> traces;
  counter_totals counted{};

  [[nodiscard]] std::uint64_t count(obs::counter c) const {
    return counted[static_cast<std::size_t>(c)];
  }
};

/// {cause: number}
[[nodiscard]] nlohmann::json aborts_of(const counter_totals& counted);
/// {"searches", "attempts", "aborts": {cause: number}, "splits", "fallbacks"} of the log.
[[nodiscard]] nlohmann::json counts_of(const search_log& log);

/// A world of T workers with a graph and a source.
class search_stage {
 public:
  search_stage(const search_options& options, int threads);
  ~search_stage();

  [[nodiscard]] world& on() noexcept;
  /// The same search by bench/baselines/bfs_threads.hpp with the same number of threads.
  [[nodiscard]] subject by_hand();
  /// The same search by the vertex program of bench/baselines/vertex_program.hpp.
  [[nodiscard]] subject by_vertex_program();
  /// Top-down search with these options. The stage and the log outlive the subject.
  [[nodiscard]] subject search(const activity::options& opt, search_log& log);

 private:
  struct state;
  template <class Search>
  subject by_baseline(const char* name, Search by);
  std::unique_ptr<state> state_;
};

}  // namespace cairn::bench
