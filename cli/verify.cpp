// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include <cairn/algo/algorithm.hpp>
#include <cairn/graph/io/edge_list.hpp>
#include <cairn/graph/io/read_edges.hpp>
#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/table.hpp>
#include <cairn/graph/io/vertex_lines.hpp>

#include "cli/facts.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"

namespace cairn::cli {
namespace {

struct verify_command {
  explicit verify_command(const common& from) : c(from) {}

  const common& c;
  input_options in;
  std::string result, paths, forest;  // one of them
  algo::option_values given;
};

// The algorithm that writes a column of this name, and the column's description.
struct writer {
  const algo::algorithm* a;
  algo::column_info column;
};

writer writer_of(const graph::io::table& rows, const std::string& path) {
  std::string all;
  for (const auto* const a : algo::algorithms()) {
    for (const auto& x : a->columns()) {
      if (x.name == rows.value_name) return {a, x};
      all += (all.empty() ? "" : ", ") + std::string(x.name);
    }
  }
  const auto& name = rows.value_name;
  throw input_error::in_file(
      path, fmt::format("its second column is {}, expected one of {}",
                        graph::io::quoted_line(name.data(), name.data() + name.size()), all));
}

bool holds_ids(std::string_view name) {
  return std::ranges::any_of(algo::algorithms(), [&](const algo::algorithm* a) {
    return std::ranges::any_of(a->columns(), [&](const algo::column_info& x) {
      return x.name == name && x.kind != algo::value_kind::numbers;
    });
  });
}

// The algorithm of a result is known only after its file is read.
void expect_options(const verify_command& cmd, const algo::algorithm& a) {
  const auto& used = a.info().verify_options;
  for (const auto& [name, value] : cmd.given) {
    if (std::ranges::find(used, name) != used.end()) continue;
    throw usage_error(fmt::format("--{} has no effect on a result of {}", name, a.info().name));
  }
  if (!cmd.in.order.empty() && !a.info().paths) {
    throw usage_error(fmt::format("--order has no effect on a result of {}", a.info().name));
  }
  a.check_options(cmd.given);
}

// This rank's values of a table with one row per vertex, in any order. A value that no vertex can
// have makes it a wrong result, not an invalid file.
class own_rows {
 public:
  own_rows(task::pool& workers, const verify_command& cmd, const graph::io::table& rows,
           const graph::labels& names, std::uint64_t first, std::uint64_t last)
      : workers_(workers), cmd_(cmd), rows_(rows), names_(names), first_(first), last_(last) {}

  [[nodiscard]] algo::own_values read(const algo::column_info& column) {
    if (rows_.ids.size() != names_.size()) {
      throw input_error::in_file(cmd_.result,
                                 fmt::format("has {} rows, expected one for each of {} vertices",
                                             rows_.ids.size(), names_.size()));
    }
    if (column.real) {
      std::vector<double> own(last_ - first_);
      place(own, [&]<class T>(std::uint64_t, T x) {
        const bool missing = x == graph::io::missing_value<T>;  // only in columns of integers
        return missing ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(x);
      });
      return own;
    }
    std::vector<std::uint64_t> own(last_ - first_);
    place(own, [&](std::uint64_t id, auto x) { return whole(id, x, column); });
    if (broken_.empty() && std::holds_alternative<std::vector<double>>(rows_.values)) {
      throw input_error::in_file(cmd_.result, "expected integers, found a column of reals");
    }
    return own;
  }
  /// The first value that no vertex can have, as a sentence; empty: none. The same on every rank.
  [[nodiscard]] const std::string& broken() const noexcept { return broken_; }

 private:
  std::string name_of_vertex(std::uint64_t id) const {
    return "vertex " + (names_.textual() ? std::string(names_.words()[id]) : std::to_string(id));
  }
  input_error wrong(std::uint64_t id, const std::string& problem) const {
    return input_error::in_file(cmd_.result, name_of_vertex(id) + ": " + problem);
  }
  template <class T>
  std::uint64_t whole(std::uint64_t id, T x, const algo::column_info& column) {
    constexpr auto none = no_vertex<std::uint64_t>;
    if (x == graph::io::missing_value<T>) return none;
    const auto break_at = [&](const char* problem) {
      if (!broken_.empty()) return;
      broken_ =
          fmt::format("{} has the {} {}, which is {}", name_of_vertex(id), column.name, x, problem);
    };
    const bool negative = x < T{0};
    if constexpr (std::is_same_v<T, double>) {  // one of the values is no 64-bit integer
      if (std::isnan(x)) return none;
      if (x != std::trunc(x)) throw wrong(id, fmt::format("expected an integer, found {}", x));
      // The digits of a larger id are lost; another value is the wrong one.
      if (x >= 0x1p53 && x < 0x1p64) return none;
      if (negative || x >= 0x1p64) {
        break_at(negative ? "negative" : "no 64-bit integer");
        return none;
      }
    }
    const auto value = static_cast<std::uint64_t>(x);
    if (column.kind == algo::value_kind::numbers) {
      if (negative) break_at("negative");
      return value;
    }
    const auto v = negative ? std::nullopt : names_.vertex_of(value);
    if (!v) break_at("no vertex of the graph");
    return v ? *v : none;
  }
  template <class T>
  void place(std::vector<T>& own, auto&& converted) {
    std::vector<bool> seen(rows_.ids.size());
    std::visit(
        [&](const auto& values) {
          for (std::size_t i = 0; i < values.size(); ++i) {
            if (i % 4096 == 0) workers_.throw_if_interrupted();
            const auto id = rows_.ids[i];
            const auto v = names_.vertex_of(id);
            if (!v) throw wrong(id, "is not in the graph");
            if (seen[*v]) throw wrong(id, "has two rows");
            seen[*v] = true;
            const auto x = converted(id, values[i]);
            if (first_ <= *v && *v < last_) own[*v - first_] = x;
          }
        },
        rows_.values);
  }

  task::pool& workers_;
  const verify_command& cmd_;
  const graph::io::table& rows_;
  const graph::labels& names_;
  const std::uint64_t first_, last_;
  std::string broken_;
};

int report_on(world& w, report& r, const std::string& file, const algo::algorithm& a,
              std::string_view values, const std::string& broken) {
  const auto command = a.info().name;
  r["result"] = {{"file", file}, {"command", command}, {"values", values}, {"broken", broken}};
  r["verified"] = broken.empty();
  r.count(w);
  r.line("result", fmt::format("{}, {} of {}", file, values, command));
  return conclude(w, r, true, broken);
}

bool shows_progress(const verify_command& cmd, const world& w) {
  return !cmd.c.quiet && w.rank() == 0;
}

int check(world& w, const graph::any_graph& g, const verify_command& cmd, const writer& by,
          const graph::io::table& rows, report& r) {
  algo::own_values values;
  std::string invalid;
  w.agree([&] {
    std::visit(
        [&](const auto& x) {
          const auto& own = x.out();
          own_rows of_rank(w.pool(), cmd, rows, x.labels(), own.first(), own.last());
          values = of_rank.read(by.column);
          invalid = of_rank.broken();
        },
        g);
  });
  if (!invalid.empty()) return report_on(w, r, cmd.result, *by.a, rows.value_name, invalid);
  const auto given = with_flow_terminals(w, cmd.in, *by.a, cmd.given);
  const auto broken = with_path_of_graph(cmd.in, [&] {
    const progress bar(shows_progress(cmd, w), "verifying " + cmd.result);
    return by.a->verify_column(w, g, rows.value_name, values, given).value_or("");
  });
  return report_on(w, r, cmd.result, *by.a, rows.value_name, broken);
}

// The algorithm whose runs have paths, or a forest.
const algo::algorithm& algorithm_of(bool algo::algorithm_info::*kind) {
  const auto& all = algo::algorithms();
  return **std::ranges::find_if(all, [&](const auto* a) { return a->info().*kind; });
}

int check_paths(world& w, const graph::any_graph& g, const verify_command& cmd, report& r) {
  const auto& a = algorithm_of(&algo::algorithm_info::paths);
  graph::io::vertex_lines lines;
  std::optional<progress> bar(std::in_place, shows_progress(cmd, w), "verifying " + cmd.paths);
  w.agree([&] {
    expect_options(cmd, a);
    lines = graph::io::read_vertex_lines(w.pool(), cmd.paths, labels_of(g));
  });
  const auto broken = a.verify_paths(w, g, {lines.ends, lines.vertices}, cmd.given).value_or("");
  bar.reset();
  return report_on(w, r, cmd.paths, a, "paths", broken);
}

int check_forest(world& w, const graph::any_graph& g, const verify_command& cmd, report& r) {
  // A larger file cannot be right. It is refused before it takes memory.
  constexpr std::uint64_t min_edges = 1u << 20, edges_per_vertex = 2;
  const auto& a = algorithm_of(&algo::algorithm_info::forest);
  expect_options(cmd, a);
  expect_directions(a, g, cmd.in);
  std::optional<progress> bar(std::in_place, shows_progress(cmd, w), "verifying " + cmd.forest);
  const auto& names = labels_of(g);
  const auto rows = graph::io::read_edges(
      w, cmd.forest,
      {.vertices = &names, .max_edges = std::max(min_edges, edges_per_vertex * names.size())});
  const auto broken = a.verify_forest(w, g, rows, cmd.given).value_or("");
  bar.reset();
  return report_on(w, r, cmd.forest, a, "forest", broken);
}

int run_command(const verify_command& cmd) {
  // The result file determines the algorithm, and thus the required edges. It can be read only
  // after the graph, which gives its number of rows. So in-edges are always built.
  graph::load_options options;
  options.build.inverse = true;
  graph_keeper graphs(cmd.in, options, !cmd.c.quiet);
  return run_ranks(cmd.c, [&](world& w) {
    if (!cmd.in.partition.empty()) expect_several_ranks(w, "partition");
    report r("verify", cmd.c, w);
    const auto& g = graphs.get(w, r);
    say_load(r);
    if (!cmd.paths.empty()) return check_paths(w, g, cmd, r);
    if (!cmd.forest.empty()) return check_forest(w, g, cmd, r);
    const auto n = std::visit([](const auto& x) { return x.num_vertices(); }, g);
    const auto& names = labels_of(g);
    const auto* const words = names.textual() ? &names.words() : nullptr;
    graph::io::table rows;
    std::optional<writer> by;
    w.agree([&] {
      const progress bar(shows_progress(cmd, w), "reading " + cmd.result);
      rows = graph::io::read_table(w.pool(), cmd.result, n, words, holds_ids);
      by = writer_of(rows, cmd.result);
      expect_options(cmd, *by->a);
    });
    return check(w, g, cmd, *by, rows, r);
  });
}

}  // namespace

void add_verify(CLI::App& app, common& c, action& chosen) {
  auto& command =
      *app.add_subcommand("verify", "Verify a result written by --output, --paths or --forest");
  const auto cmd = std::make_shared<verify_command>(c);
  add_input(command, cmd->in);
  command.add_option("RESULT", cmd->result, "The table of id,value written by --output")
      ->type_name("FILE")
      ->check(not_empty());
  command
      .add_option("--paths", cmd->paths,
                  "Verify the walks that walk --paths wrote, instead of RESULT")
      ->type_name("FILE")
      ->check(not_empty());
  command
      .add_option("--forest", cmd->forest,
                  "Verify the forest that mst --forest wrote, instead of RESULT")
      ->type_name("FILE")
      ->check(not_empty());
  std::map<std::string_view, CLI::Option*> added;
  for (const auto* const a : algo::algorithms()) {
    const auto& used = a->info().verify_options;
    for (const auto& o : a->options()) {
      if (std::ranges::find(used, o.name) == used.end()) continue;
      auto& option = added[o.name];
      if (option == nullptr) {
        option = add_algorithm_option(command, o, cmd->given, std::string(o.meaning));
      } else if (const auto& before = option->get_description(); before != o.meaning) {
        option->description(fmt::format("{}; of {}: {}", before, a->info().name, o.meaning));
      }
    }
  }
  add_common(command, c,
             {.settings = settings_of({setting_group::workers, setting_group::processes,
                                       setting_group::simulation, setting_group::messages})});
  command.callback([cmd, &chosen] {
    chosen = [cmd] {
      // With a generator the only positional argument is the result.
      if (cmd->result.empty() && is_generated(cmd->in)) std::swap(cmd->result, cmd->in.file);
      const int named = !cmd->result.empty() + !cmd->paths.empty() + !cmd->forest.empty();
      if (named == 0) throw usage_error("no result: expected RESULT, --paths or --forest");
      if (named > 1) throw usage_error("expected only one of RESULT, --paths and --forest");
      if (!cmd->forest.empty()) graph::io::expect_edge_list_holds(cmd->forest, true);
      static_cast<void>(source_of(cmd->in));
      expect_seed(cmd->in, false);
      return run_command(*cmd);
    };
  });
}

}  // namespace cairn::cli
