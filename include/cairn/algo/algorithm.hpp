// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/algo/mst_edge.hpp>
#include <cairn/algo/ref/input.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/pgas/partition.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// The weights that an algorithm reads. integer: of 32 bits, not negative; lengths: numbers that
/// are not negative. Without weights each edge counts 1.
enum class weights_read { none, any, integer, lengths };

/// Properties of an algorithm that do not depend on a run.
///
/// name            the command
/// summary         one line of the list of commands
/// check           what --verify does
/// in_edges        a directed graph also needs its in-edges
/// undirected      if not empty: the reason why a directed graph is refused
/// several_cells   its operators change several cells, which restricts the mechanisms
/// filters         some of its messages are dropped or combined at the sender
/// direct          all of its messages go directly to their destination, whatever the routing
/// in_order        some of its runs work through queues, so that a busy worker looks for messages
///                 between batches
/// to_owners       some of its operators change one element and are not answered, so that their
///                 messages may go to the worker that owns it
/// verify_options  options that the verification of a column depends on
/// paths           its runs can return paths
/// forest          its runs return the edges of a forest
/// no_operators    if not empty: the reason why no run uses operators
/// also            another name of the command; empty: none
struct algorithm_info {
  std::string_view name, summary, check;
  bool in_edges = false;
  std::string_view undirected = {};
  weights_read weights = weights_read::none;
  std::span<const std::string_view> verify_options = {};
  bool several_cells = false;
  bool filters = false;
  bool direct = false;
  bool in_order = false;
  bool to_owners = false;
  bool paths = false;
  bool forest = false;
  std::string_view no_operators = {};
  std::string_view also = {};
};

/// An option of one algorithm, as shown by the command line.
struct option_info {
  std::string_view name, meaning;
  char letter;                              ///< 0: none
  std::string absent;                       ///< its value in a run if not given; may be empty
  std::string_view type;                    ///< ID, N or X; empty if there are `words`
  std::span<const std::string_view> words;  ///< the allowed values
};

/// The given options, by name.
using option_values = std::map<std::string, std::string, std::less<>>;

/// Settings of one run.
///
/// seed      of random draws, which also depend on `trial`
/// verify    the result will be verified
/// output    the column that will be written; empty: none
/// paths     the paths will be written
struct run_request {
  activity::options activity = {};
  std::uint64_t seed = 1, trial = 0;
  bool verify = false;
  std::string_view output = {};
  bool paths = false;
};

struct vertex_id {
  std::uint64_t vertex;
};
using fact_value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, vertex_id>;
struct fact {
  std::string_view name;
  fact_value value;
};

/// One value per vertex, at the vertex's owner.
struct column {
  std::string_view name;
  value_kind kind;
  std::variant<const pgas::vertex_map<std::uint32_t>*, const pgas::vertex_map<std::uint64_t>*,
               const pgas::vertex_map<float>*, const pgas::vertex_map<double>*>
      values;
};
struct column_info {
  std::string_view name;
  value_kind kind;
  bool partial;  ///< a vertex may have no value
  bool real;
};

/// Rows of vertices, such as a walk each. A rank has those that `rows` gives it, one after the
/// other; each has row_size places, of which those after its last vertex are no_vertex.
struct vertex_rows {
  pgas::partition_view rows;
  std::size_t row_size;
  std::variant<std::span<const std::uint32_t>, std::span<const std::uint64_t>> own;
};

/// The edges of a forest between positions in the order of ids (see graph::labels) instead of
/// vertices. Those of a rank ascend and precede those of the next rank.
using forest_rows =
    std::variant<std::vector<mst_edge<std::uint32_t>>, std::vector<mst_edge<std::uint64_t>>>;

/// Rows of a file: those of row i end before vertices[ends[i]]. The same on every rank.
struct listed_rows {
  std::span<const std::uint64_t> ends, vertices;
};

/// A column of a file: the values of this rank's vertices, in order. Vertices are vertices of the
/// graph; a missing value is no_vertex.
using own_values = std::variant<std::vector<std::uint64_t>, std::vector<double>>;

/// The result of a run. The prepared run, the bound graph and the world outlive it.
class run_result {
 public:
  virtual ~run_result() = default;

  /// Counts what facts() and edges() tell beside the result itself: once, before they are called.
  /// It is not part of the run, whose time others measure. Collective.
  virtual void count() = 0;
  /// The result without its columns; the same on every rank.
  [[nodiscard]] virtual std::vector<fact> facts() const = 0;
  [[nodiscard]] virtual std::vector<column> columns() const = 0;
  /// Present if they were requested.
  [[nodiscard]] virtual std::optional<vertex_rows> paths() const { return std::nullopt; }
  /// Present if the algorithm returns a forest. Collective.
  [[nodiscard]] virtual std::optional<forest_rows> forest() const { return std::nullopt; }
  [[nodiscard]] virtual const activity::ran& ran() const = 0;
  /// Input edges that the run traversed, for a rate; 0: no rate is reported.
  [[nodiscard]] virtual std::uint64_t edges() const = 0;
  /// The first violation as one sentence, or nothing. Collective.
  [[nodiscard]] virtual std::optional<std::string> verify() const = 0;
};

/// A run whose random draws are done. Its bound graph outlives it.
class prepared_run {
 public:
  virtual ~prepared_run() = default;
  /// Collective.
  [[nodiscard]] virtual std::unique_ptr<run_result> run() = 0;
};

/// A graph with the data that an algorithm builds once for all runs.
class bound_graph {
 public:
  virtual ~bound_graph() = default;
  /// Throws    usage_error if the options do not fit the graph; input_error if it has weights of
  ///           another kind than the algorithm reads
  /// Collective: same arguments on every rank.
  [[nodiscard]] virtual std::unique_ptr<prepared_run> prepare(const run_request& r) const = 0;
};

/// The type-erased interface of an algorithm, for the command line, tests and bindings. A C++
/// program that uses a particular algorithm calls its function directly.
class algorithm {
 public:
  virtual ~algorithm() = default;

  [[nodiscard]] virtual const algorithm_info& info() const noexcept = 0;
  [[nodiscard]] virtual std::vector<option_info> options() const = 0;
  [[nodiscard]] virtual std::vector<column_info> columns() const = 0;
  /// Whether the rate of `edges()` is in TEPS, because each is traversed once.
  [[nodiscard]] virtual bool counts_teps() const noexcept = 0;

  /// Throws    usage_error unless the options are valid and consistent
  virtual void check_options(const option_values& given) const = 0;
  /// Whether a run depends on the seed.
  [[nodiscard]] virtual bool uses_seed(const option_values& given) const = 0;
  /// Why the run uses no operators, so that settings such as the mechanism have no effect. Empty if
  /// it uses operators.
  [[nodiscard]] virtual std::string_view without_operators(const option_values& given,
                                                           const world& w) const = 0;
  /// Whether all messages of the run go directly to their destination, so that
  /// world_options::routing has no effect.
  [[nodiscard]] virtual bool sends_directly(const option_values& given) const = 0;
  /// Why the workers of the run do not work through queues, so that world_options::frequency has no
  /// effect: what the algorithm does instead. Empty if they do.
  [[nodiscard]] virtual std::string_view without_queues(const option_values& given) const = 0;
  /// Why no worker of the run can be ahead of another in an order, so that world_options::lead has
  /// no effect: what the algorithm does instead. Empty if one can.
  [[nodiscard]] virtual std::string_view without_lead(const option_values& given) const = 0;

  /// Builds data that pays off within the given number of runs, such as a layout of the edges.
  /// World and graph outlive the result.
  ///
  /// Throws    usage_error as check_options(), and if the graph or the number of ranks is not
  ///           supported
  /// Collective: same arguments on every rank.
  [[nodiscard]] virtual std::unique_ptr<bound_graph> bind(world& w, const graph::any_graph& g,
                                                          const option_values& given,
                                                          std::uint64_t runs) const = 0;

  /// The first violation in a column of a file as one sentence, or nothing. Collective.
  ///
  /// Throws    usage_error if an option that the column depends on was not given
  [[nodiscard]] virtual std::optional<std::string> verify_column(
      world& w, const graph::any_graph& g, std::string_view name, const own_values& values,
      const option_values& given) const = 0;

  /// The same for the rows of a file of paths. Collective.
  [[nodiscard]] virtual std::optional<std::string> verify_paths(
      world& w, const graph::any_graph& g, const listed_rows& all,
      const option_values& given) const = 0;

  /// The same for the edges of a file of a forest, read with graph::io::read_options::vertices.
  /// Collective.
  [[nodiscard]] virtual std::optional<std::string> verify_forest(
      world& w, const graph::any_graph& g, const graph::io::raw_edges& rows,
      const option_values& given) const = 0;

  /// The violation that a serial reference implementation with no shared code finds; empty if none.
  [[nodiscard]] virtual std::string check_against_reference(const ref::input& g,
                                                            const option_values& given,
                                                            const ref::output& found) const = 0;
};

/// All algorithms, in the order of their commands.
[[nodiscard]] const std::vector<const algorithm*>& algorithms();

/// The input of the `ref` judges. Collective.
[[nodiscard]] ref::output gather(world& w, const run_result& f);

}  // namespace cairn::algo
