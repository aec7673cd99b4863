// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <cairn/core/launch.hpp>
#include <cairn/graph/load.hpp>

#include "cli/report.hpp"

namespace cairn::cli {

/// The options that say which graph: a file or a generator, and what is done to it.
struct input_options {
  std::string file;
  std::string kronecker, uniform, erdos_renyi, grid;  ///< as on the command line; empty: not
  int degree = 0;  ///< GAP's -k: edge factor of the two generators by scale; 0: not given
  std::optional<std::uint64_t> seed;
  bool symmetrize = false;
  std::string order, partition, ids;  ///< empty: file, vertices, number
};

/// Adds INPUT, the generators, --order, --ids, --partition and GAP's short forms -f, -g, -u, -k,
/// -s.
void add_input(CLI::App& command, input_options& in);
/// The same without --partition: for commands that load on one rank.
void add_whole_input(CLI::App& command, input_options& in);

/// Whether a generator is named.
[[nodiscard]] bool is_generated(const input_options& in);

/// Throws    usage_error unless exactly one graph is named, and well; for --ids and --symmetrize of
///           a graph that says itself
[[nodiscard]] graph::source source_of(const input_options& in);

/// Throws    usage_error if --seed is given and nothing is drawn
/// draws     the command draws beside graph and order
void expect_seed(const input_options& in, bool draws);
[[nodiscard]] inline std::uint64_t seed_of(const input_options& in) { return in.seed.value_or(1); }

/// "kronecker 20", or the file's name.
[[nodiscard]] std::string name_of(const input_options& in);

/// The id of vertex v as reports have it: a number, or where ids are texts a string.
[[nodiscard]] json id_in_json(const graph::labels& names, std::uint64_t v);

/// Loads the graph once for all runs of one process: a simulated cluster runs its ranks, and
/// every seed, in one process, and each rank keeps its share.
class graph_keeper {
 public:
  graph_keeper(const input_options& in, graph::load_options options, bool show_progress);

  /// This rank's share; fills in the report's graph and seconds. Collective.
  [[nodiscard]] graph::any_graph& get(world& w, report& r);

 private:
  const input_options& in_;
  graph::source source_;
  graph::load_options options_;
  bool show_progress_;
  std::vector<std::unique_ptr<graph::loaded_graph>> shares_;  // by rank
};

/// Runs `body` on the ranks that the settings and the launcher ask for.
[[nodiscard]] int run_ranks(const common& c, const rank_body& body);

}  // namespace cairn::cli
