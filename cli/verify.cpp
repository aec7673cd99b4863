// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cairn/algo/verify_bfs.hpp>
#include <cairn/graph/io/table.hpp>

#include "cli/input.hpp"

namespace cairn::cli {
namespace {

struct verify_command {
  explicit verify_command(const common& from) : c(from) {}

  const common& c;
  input_options in;
  std::string result;
  std::optional<std::uint64_t> source;
};

// Puts the table's rows into this rank's part of a map. Every vertex has one row, in any order.
template <class Id>
void fill(const verify_command& cmd, const graph::io::table& rows, const graph::dist_csr<Id>& g,
          pgas::vertex_map<Id>& values, bool as_ids) {
  const auto wrong = [&](std::uint64_t id, const std::string& what) {
    return input_error::in_file(cmd.result, fmt::format("vertex {}: {}", id, what));
  };
  const auto& names = g.labels();
  if (rows.ids.size() != g.num_vertices()) {
    throw input_error::in_file(cmd.result,
                               fmt::format("has {} rows, expected one for each of {} vertices",
                                           rows.ids.size(), g.num_vertices()));
  }
  std::vector<bool> seen(rows.ids.size());
  const auto put = [&](std::size_t i, std::uint64_t x, bool missing) {
    const auto id = rows.ids[i];
    const auto v = names.vertex_of(id);
    if (!v) throw wrong(id, "is not in the graph");
    if (seen[*v]) throw wrong(id, "has two rows");
    seen[*v] = true;
    if (!values.owns(*v)) return;
    if (!missing && as_ids) {
      const auto target = names.vertex_of(x);
      if (!target) throw wrong(id, fmt::format("its parent {} is not in the graph", x));
      x = *target;
    }
    if (!missing && x >= no_vertex<Id>) throw wrong(id, fmt::format("{} is too large", x));
    values.store(*v, missing ? no_vertex<Id> : static_cast<Id>(x));
  };
  std::visit(
      [&](const auto& column) {
        using T = typename std::remove_cvref_t<decltype(column)>::value_type;
        for (std::size_t i = 0; i < column.size(); ++i) {
          if constexpr (std::is_same_v<T, double>) {
            throw wrong(rows.ids[i], "expected a whole number");
          } else {
            const bool missing = column[i] == graph::io::missing_value<T>;
            if (std::is_signed_v<T> && !missing && column[i] < T{0}) {
              throw wrong(rows.ids[i], "expected a number that is not negative");
            }
            put(i, static_cast<std::uint64_t>(column[i]), missing);
          }
        }
      },
      rows.values);
}

template <class Id>
int check(world& w, const graph::dist_csr<Id>& g, const verify_command& cmd, report& r) {
  graph::io::table rows;
  pgas::vertex_map<Id> values(w, g.partition(), no_vertex<Id>);
  w.agree([&] {
    rows = graph::io::read_table(w.pool(), cmd.result, g.num_vertices());
    if (rows.value_name != "depth" && rows.value_name != "parent") {
      throw input_error::in_file(
          cmd.result, "its second column is '" + rows.value_name + "', expected depth or parent");
    }
    fill(cmd, rows, g, values, rows.value_name == "parent");
  });
  const bool parents = rows.value_name == "parent";
  auto root = parents ? algo::root_of_parents(w, g, values) : algo::root_of_depths(w, g, values);
  if (cmd.source && root.problem.empty()) {
    const auto named = g.labels().vertex_of(*cmd.source);
    if (!named) throw usage_error(fmt::format("source {} is not a vertex", *cmd.source));
    if (*named != root.vertex) {
      root.problem = fmt::format("the result starts at {}, not at source {}",
                                 g.labels().id_of(root.vertex), *cmd.source);
    }
  }
  auto broken = root.problem;
  if (broken.empty()) {
    broken = (parents ? algo::verify_bfs<Id>(w, g, root.vertex, values)
                      : algo::verify_bfs_depths<Id>(w, g, root.vertex, values))
                 .value_or("");
  }
  r["result"] = {{"file", cmd.result}, {"values", rows.value_name}, {"broken", broken}};
  r["verified"] = broken.empty();
  r.count(w);
  r.line("result", cmd.result + ", " + rows.value_name + "s");
  r.line("verified", broken.empty() ? "yes" : "NO: " + broken);
  r.print(w);
  if (!broken.empty() && w.rank() == 0) say("verification failed: " + broken);
  return broken.empty() ? 0 : 1;
}

}  // namespace

void add_verify(CLI::App& app, common& c, action& chosen) {
  auto& command = *app.add_subcommand("verify", "Check a result that --output wrote");
  const auto cmd = std::make_shared<verify_command>(c);
  add_input(command, cmd->in);
  command.add_option("RESULT", cmd->result, "The table: id,depth or id,parent");
  command.add_option("--source,-r", cmd->source, "Where the search must have started")
      ->check(whole_number())
      ->type_name("ID");
  add_common(command, c);
  command.callback([cmd, &chosen] {
    chosen = [cmd] {
      // With a generator the only name on the line is the result's.
      if (cmd->result.empty()) std::swap(cmd->result, cmd->in.file);
      if (cmd->result.empty()) throw usage_error("no result: name the file that --output wrote");
      graph::load_options options;
      options.build.keep_weights = false;
      graph_keeper graphs(cmd->in, options, !cmd->c.quiet);
      return run_ranks(cmd->c, [&](world& w) {
        report r("verify", cmd->c, w);
        return std::visit([&](const auto& g) { return check(w, g, *cmd, r); }, graphs.get(w, r));
      });
    };
  });
}

}  // namespace cairn::cli
