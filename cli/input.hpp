// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <cairn/core/launch.hpp>
#include <cairn/graph/load.hpp>

#include "cli/report.hpp"

namespace cairn::cli {

/// The options that select a graph, a file or a generator, and its preprocessing.
struct input_options {
  std::string file;
  std::string kronecker, uniform, erdos_renyi, grid;  ///< as given; empty: not given
  int degree = 0;  ///< -k of GAP: edge factor of the generators with a scale; 0: not given
  std::optional<std::uint64_t> seed;
  bool symmetrize = false, drop_self_loops = false, drop_duplicates = false;
  std::string order, partition, ids;  ///< empty: file, vertices, number
};

/// Adds the generators with -k, --seed and --order.
void add_generator(CLI::App& command, input_options& in);
/// Adds INPUT, the generators, --order, --ids, --partition and GAP's short forms -f, -g, -u, -k,
/// -s.
void add_input(CLI::App& command, input_options& in);
/// As add_input without --partition, for commands that load on one rank.
void add_whole_input(CLI::App& command, input_options& in);

/// Whether a generator is given.
[[nodiscard]] bool is_generated(const input_options& in);

/// Throws    usage_error unless exactly one valid graph is given, and for --ids, --symmetrize or
///           what drops edges if the graph itself determines them
[[nodiscard]] graph::source source_of(const input_options& in);

/// draws     the command draws random numbers for more than the graph and its order
/// Throws    usage_error if --seed is given and nothing is random
void expect_seed(const input_options& in, bool draws);
[[nodiscard]] inline std::uint64_t seed_of(const input_options& in) { return in.seed.value_or(1); }

/// "kronecker 20", or the file's name.
[[nodiscard]] std::string name_of(const input_options& in);
/// "kronecker 20", or the file's path as given: for messages.
[[nodiscard]] std::string path_of(const input_options& in);

/// Calls f, and adds the path of the graph to the error of an algorithm that rejects the graph.
decltype(auto) with_path_of_graph(const input_options& in, const auto& f) {
  try {
    return f();
  } catch (const input_error& e) {
    throw input_error::in_file(path_of(in), e.what());
  }
}

/// The id of vertex v in reports: a number, or a string if ids are texts.
[[nodiscard]] json id_in_json(const graph::labels& names, std::uint64_t v);

/// The options of an algorithm between --from and --to. One that is missing is the terminal that
/// the input names, if it is a DIMACS flow that does. Collective.
[[nodiscard]] algo::option_values with_flow_terminals(world& w, const input_options& in,
                                                      const algo::algorithm& a,
                                                      algo::option_values given);

/// Loads the graph once for all runs of a process. A simulated cluster runs its ranks and all seeds
/// in one process; each rank keeps its share.
class graph_keeper {
 public:
  graph_keeper(const input_options& in, graph::load_options options, bool show_progress);

  /// This rank's share. Adds the graph and the load time to the report. Collective.
  [[nodiscard]] graph::any_graph& get(world& w, report& r);

 private:
  const input_options& in_;
  graph::source source_;
  graph::load_options options_;
  bool show_progress_;
  std::vector<std::unique_ptr<graph::loaded_graph>> shares_;  // by rank
};

/// Adds the line of the times of loading and building, when they are known.
void say_load(report& r);

/// Runs `body` on the ranks given by the settings and the launcher.
///
/// expect    first refuses settings for reasons that do not depend on the number of ranks
/// Throws    usage_error, here or in the body's place, for settings without effect
[[nodiscard]] int run_ranks(const common& c, const std::function<void(world&)>& expect,
                            const rank_body& body);
[[nodiscard]] int run_ranks(const common& c, const rank_body& body);

}  // namespace cairn::cli
