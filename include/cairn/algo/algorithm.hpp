// SPDX-License-Identifier: Apache-2.0
#pragma once

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
#include <cairn/algo/ref/input.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// The weights that an algorithm reads; whole: of 32 bits. Without any each edge counts 1.
enum class weights_read { none, any, whole };

/// What does not depend on a run.
///
/// name          the command
/// summary       one line of the list of commands
/// check         what --verify does
/// in_edges      a directed graph also needs its in-edges
/// undirected      a directed graph is refused, with this reason
/// several_cells   its operators touch several cells, which decides what mechanisms run them
/// filters         some of its messages are dropped or combined where they are sent
/// verify_options  those on which it depends whether a column is right
struct algorithm_info {
  std::string_view name, summary, check;
  bool in_edges = false;
  std::string_view undirected = {};
  weights_read weights = weights_read::none;
  std::span<const std::string_view> verify_options = {};
  bool several_cells = false;
  bool filters = false;
};

/// An option of one algorithm, as a command line shows it.
struct option_info {
  std::string_view name, meaning;
  char letter;                              ///< 0: none
  std::string_view type;                    ///< ID, N or X; empty where there are words
  std::span<const std::string_view> words;  ///< the values that it may have
};

/// The options that were given, by name.
using option_values = std::map<std::string, std::string, std::less<>>;

/// Decides what options and graph leave open.
///
/// seed      of draws, which depend on the trial too
/// verify    the finding will be verified
/// output    the column that will be written; empty: none
struct run_request {
  activity::options activity = {};
  std::uint64_t seed = 1, trial = 0;
  bool verify = false;
  std::string_view output = {};
};

struct vertex_id {
  std::uint64_t vertex;
};
using fact_value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, vertex_id>;
struct fact {
  std::string_view name;
  fact_value value;
};

/// One value per vertex, at the owners.
struct column {
  std::string_view name;
  holds what;
  std::variant<const pgas::vertex_map<std::uint32_t>*, const pgas::vertex_map<std::uint64_t>*,
               const pgas::vertex_map<float>*, const pgas::vertex_map<double>*>
      values;
};
struct column_info {
  std::string_view name;
  holds what;
  bool partial;  ///< a vertex may have no value
  bool real;
};

/// A column as a file holds it: of the own vertices, in order. Vertices are those of the graph,
/// and what is missing is no_vertex.
using own_values = std::variant<std::vector<std::uint64_t>, std::vector<double>>;

/// What a run found. What it was found by outlives it: the prepared run, the bound graph, the
/// world.
class finding {
 public:
  virtual ~finding() = default;

  /// All but the columns, the same on every rank.
  [[nodiscard]] virtual std::vector<fact> facts() const = 0;
  [[nodiscard]] virtual std::vector<column> columns() const = 0;
  [[nodiscard]] virtual const activity::ran& ran() const = 0;
  /// Edges of the input that the run passed, for a rate; 0: none is meant.
  [[nodiscard]] virtual std::uint64_t edges() const = 0;
  /// What is wrong, in one sentence, or nothing. Collective.
  [[nodiscard]] virtual std::optional<std::string> verify() const = 0;
};

/// A run whose draws are made. Its bound graph outlives it.
class prepared_run {
 public:
  virtual ~prepared_run() = default;
  /// Collective.
  [[nodiscard]] virtual std::unique_ptr<finding> run() = 0;
};

/// A graph with what an algorithm makes of it once for all runs.
class bound_graph {
 public:
  virtual ~bound_graph() = default;
  /// Throws    usage_error for what the graph excludes
  /// Collective: same arguments on every rank.
  [[nodiscard]] virtual std::unique_ptr<prepared_run> prepare(const run_request& r) const = 0;
};

/// An algorithm as the command line, tests over all places and bindings see it: the same interface
/// for all of them. A C++ program that knows which it wants calls the function itself.
class algorithm {
 public:
  virtual ~algorithm() = default;

  [[nodiscard]] virtual const algorithm_info& info() const noexcept = 0;
  [[nodiscard]] virtual std::vector<option_info> options() const = 0;
  [[nodiscard]] virtual std::vector<column_info> columns() const = 0;
  /// Whether `edges()` are traversed once, so that their rate is in TEPS.
  [[nodiscard]] virtual bool counts_teps() const noexcept = 0;

  /// Throws    usage_error unless the options can be read and agree
  virtual void expect(const option_values& given) const = 0;
  /// Whether a run draws at random what the options leave open, or draws lots.
  [[nodiscard]] virtual bool draws(const option_values& given) const = 0;
  /// Why operators, and with them settings such as the mechanism, play no part; empty: they do.
  [[nodiscard]] virtual std::string_view without_operators(const option_values& given,
                                                           const world& w) const = 0;

  /// Makes what so many runs repay, such as a layout of the edges. World and graph outlive it.
  ///
  /// Throws    usage_error as expect(), and for what the graph or the number of ranks excludes
  /// Collective: same arguments on every rank.
  [[nodiscard]] virtual std::unique_ptr<bound_graph> bind(world& w, const graph::any_graph& g,
                                                          const option_values& given,
                                                          std::uint64_t runs) const = 0;

  /// What is wrong with a column that a file holds, in one sentence, or nothing. Collective.
  ///
  /// Throws    usage_error if an option that it depends on was not given
  [[nodiscard]] virtual std::optional<std::string> verify_column(
      world& w, const graph::any_graph& g, std::string_view name, const own_values& values,
      const option_values& given) const = 0;

  /// What a serial reference that shares no code says is wrong, or nothing.
  [[nodiscard]] virtual std::string judge(const ref::input& g, const option_values& given,
                                          const ref::output& found) const = 0;
};

/// All algorithms, in the order of their commands.
[[nodiscard]] const std::vector<const algorithm*>& algorithms();

/// What ref judges take. Collective.
[[nodiscard]] ref::output gather(world& w, const finding& f);

}  // namespace cairn::algo
