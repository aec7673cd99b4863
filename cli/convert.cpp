// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <cairn/algo/stored_layout.hpp>
#include <cairn/graph/io/dimacs.hpp>
#include <cairn/graph/io/edge_list.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/metis.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/net/ring.hpp>

#include "cli/facts.hpp"
#include "cli/input.hpp"
#include "cli/output.hpp"

namespace cairn::cli {
namespace {

using graph::io::file_format;

struct convert_command {
  std::string name;
  input_options in;
  std::string output, layout;
  bool once = false;
  bool renumber = false;
  std::string from, to;  // ids of the input; empty: not given
};

bool is_edge_list(file_format format) {
  return format == file_format::edge_list || format == file_format::weighted_edge_list ||
         format == file_format::csv;
}

bool ends_in(const convert_command& cmd, std::string_view ending) {
  return graph::io::without_compression(cmd.output).ends_with(ending);
}

// Rejects invalid options before the graph is loaded.
void expect_options(const convert_command& cmd) {
  const auto format = graph::io::format_of(cmd.output);
  if (cmd.once && !is_edge_list(format) && !ends_in(cmd, ".gr")) {
    throw usage_error("--once is for edge lists and .gr files: " +
                      std::string(ends_in(cmd, ".max") ? "a flow needs both directions"
                                                       : "other formats have an undirected edge "
                                                         "once"));
  }
  if (!cmd.layout.empty() && format != file_format::native) {
    throw usage_error("--layout is for .cairn files: other formats store only edges");
  }
  if (!cmd.in.order.empty() && format != file_format::native && !is_edge_list(format)) {
    throw usage_error("--order has no effect here: " + cmd.output +
                      " has its vertices in the order of their ids");
  }
  if (!ends_in(cmd, ".max") && !(cmd.from.empty() && cmd.to.empty())) {
    throw usage_error(
        "--from and --to are for .max files: other formats do not name a source and a sink");
  }
}

graph::io::native_graph view_of(world& w, const graph::any_graph& g, const convert_command& cmd) {
  auto whole = std::visit([](const auto& rows) { return graph::io::native_view(rows); }, g);
  if (!cmd.renumber) return whole;
  const auto& names = labels_of(g);
  auto ids = std::make_shared<std::vector<std::uint64_t>>(names.size());
  w.parallel_for(names.size(), [&](worker_t, std::size_t begin, std::size_t end) {
    for (auto v = begin; v < end; ++v) (*ids)[v] = 1 + names.position_of(v);
  });
  whole.words = nullptr;
  whole.labels = *ids;
  whole.kept.push_back(std::move(ids));
  return whole;
}

// The id that the output has for the vertex with this id of the input.
std::uint64_t written_id(const graph::labels& names, const std::string& id,
                         const convert_command& cmd) {
  const auto v = names.vertex_of(std::string_view(id));
  if (!v) throw usage_error(cmd.output + ": " + id + " is not a vertex");
  return cmd.renumber ? 1 + names.position_of(*v) : names.id_of(*v);
}

// The terminals that the input names, if it is a flow. One that the output needs is there.
graph::io::flow_terminals named_terminals(const convert_command& cmd) {
  const auto& file = cmd.in.file;
  if (file.empty() || graph::io::format_of(file) != file_format::dimacs) return {};
  if (!ends_in(cmd, ".max")) return graph::io::read_flow_terminals(file);
  return graph::io::read_flow_terminals(file, !cmd.from.empty(), !cmd.to.empty());
}

// Takes the terminals that are not given from the input.
void complete_terminals(convert_command& cmd, const graph::io::flow_terminals& named) {
  if (named.source != 0 && cmd.from.empty()) cmd.from = std::to_string(named.source);
  if (named.sink != 0 && cmd.to.empty()) cmd.to = std::to_string(named.sink);
  if (!cmd.from.empty() && !cmd.to.empty()) return;
  throw usage_error("a .max file names the source and the sink of a flow: --from ID --to ID");
}

std::optional<graph::io::flow_terminals> terminals_of(const graph::any_graph& g,
                                                      const convert_command& cmd) {
  if (!ends_in(cmd, ".max")) return std::nullopt;
  const auto& names = labels_of(g);
  return graph::io::flow_terminals{written_id(names, cmd.from, cmd),
                                   written_id(names, cmd.to, cmd)};
}

void expect_once_has_effect(const graph::io::native_graph& g, const convert_command& cmd) {
  if (!cmd.once) return;
  if (g.directed) {
    throw usage_error("--once is for undirected graphs: " + name_of(cmd.in) +
                      " is directed (--symmetrize)");
  }
  if (ends_in(cmd, ".gr") && g.weights.index() == 0) {
    throw usage_error("--once has no effect here: a .gr file without weights lists each edge once");
  }
}

void write_graph(world& w, const graph::any_graph& g, const convert_command& cmd, report& r) {
  using graph::io::undirected_edges;
  auto whole = view_of(w, g, cmd);
  expect_once_has_effect(whole, cmd);
  if (cmd.layout == "always") {
    whole.attached = std::visit(
        [&](const auto& rows) { return algo::attachment_of(algo::pull_layout(w, rows)); }, g);
  }
  const auto edges = cmd.once ? undirected_edges::once : undirected_edges::both_ways;
  auto& pool = w.pool();
  switch (graph::io::format_of(cmd.output)) {
    case file_format::native:
      return graph::io::write_native(pool, cmd.output, whole);
    case file_format::matrix_market:
      return graph::io::write_matrix_market(pool, cmd.output, whole);
    case file_format::metis:
      return graph::io::write_metis(pool, cmd.output, whole);
    case file_format::dimacs:
      return graph::io::write_dimacs(pool, cmd.output, whole, edges, terminals_of(g, cmd));
    case file_format::edge_list:
    case file_format::weighted_edge_list:
    case file_format::csv:
      graph::io::write_edge_list(pool, cmd.output, whole, edges);
      const auto isolated = graph::io::num_isolated(pool, whole);
      r["result"]["isolated_left_out"] = isolated;
      if (isolated != 0) r.line("left out", format_count(isolated) + " vertices without edges");
      const bool has_weights = whole.weights.index() != 0;
      const bool drops = graph::io::format_of(cmd.output) == file_format::edge_list;
      const auto weights = has_weights && drops ? whole.num_edges : 0;
      r["result"]["weights_left_out"] = weights;
      if (weights != 0) r.line("left out", "the weights of " + format_count(weights) + " edges");
      return;
  }
}

// Calls f on rank 0 in a single-rank world with its workers, because one rank writes the file.
template <class F>
void on_rank_zero(world& w, F&& f) {
  w.agree([&] {
    if (w.rank() != 0) return;
    net::ring_transport nobody(std::make_shared<net::ring_fabric>(1), 0);
    world alone(nobody, w.pool(), w.clock());
    f(alone);
  });
}

// Reports what the input has beside its edges and the output does not.
void say_left_out(const graph::any_graph& g, const convert_command& cmd, bool terminals,
                  report& r) {
  const auto say = [&](const char* name, bool left_out, const char* what) {
    r["result"][name] = left_out;
    if (left_out) r.line("left out", what);
  };
  say("terminals_left_out", terminals, "the source and the sink of the flow");
  const bool layout = std::visit([](const auto& rows) { return rows.attached().has_value(); }, g);
  say("layout_left_out", layout && cmd.layout != "always", "the layout for pagerank");
}

int run_command(const common& c, const convert_command& given) {
  auto cmd = given;
  if (cmd.output.empty()) throw usage_error("no output: name the file to write");
  expect_options(cmd);
  graph::load_options options;
  options.build.inverse = cmd.layout == "always";  // the layout reorders in-edges
  graph_keeper graphs(cmd.in, options, !c.quiet);
  return run_ranks(c, [&](world& w) {
    report r(cmd.name, c, w);
    on_rank_zero(w, [&](world& alone) {
      check_writable(cmd.output, cmd.in.file);
      const auto named = named_terminals(cmd);
      if (ends_in(cmd, ".max")) complete_terminals(cmd, named);
      const auto& g = graphs.get(alone, r);
      say_load(r);
      r["result"] = {{"isolated_left_out", 0}, {"weights_left_out", 0}};
      const auto start = w.clock().now_ns();
      write_graph(alone, g, cmd, r);
      const bool names = named.source != 0 || named.sink != 0;
      say_left_out(g, cmd, names && !ends_in(cmd, ".max"), r);
      const auto seconds = static_cast<double>(w.clock().now_ns() - start) * 1e-9;
      r["result"]["file"] = cmd.output;
      r["result"]["write_seconds"] = seconds;
      r.line("wrote", fmt::format("{} in {}", cmd.output, format_seconds(seconds)));
      r.count(alone);
    });
    r.print(w);
    return 0;
  });
}

void add(CLI::App& app, const std::string& name, const std::string& help, common& c, action& chosen,
         bool from_file) {
  auto& command = *app.add_subcommand(name, help);
  const auto cmd = std::make_shared<convert_command>();
  cmd->name = name;
  from_file ? add_whole_input(command, cmd->in) : add_generator(command, cmd->in);
  add_file_to_write(command, "OUTPUT,--output,-o", cmd->output,
                    "The file to write: .el .txt .wel .csv .mtx .gr .max .col .graph .cairn, also "
                    ".gz .zst .xz");
  command.add_flag("--once", cmd->once,
                   "Write each undirected edge once in an edge list or a .gr file (read it with "
                   "--symmetrize)");
  command.add_option("--from", cmd->from, "The id of the source of a .max file, as in the input")
      ->type_name("ID")
      ->check(not_empty());
  command.add_option("--to", cmd->to, "The id of the sink of a .max file, as in the input")
      ->type_name("ID")
      ->check(not_empty());
  command.add_flag("--renumber", cmd->renumber,
                   "Renumber vertices to ids 1 to n, in the order of their ids");
  command
      .add_option("--layout", cmd->layout,
                  "Whether a .cairn file contains the layout for pagerank (default: none)")
      ->check(CLI::IsMember({"none", "always"}));
  add_common(command, c,
             {.settings = settings_of({setting_group::workers, setting_group::processes})});
  command.callback([=, &c, &chosen] {
    chosen = [=, &c] {
      const auto& in = cmd->in;
      const bool generated = is_generated(in);
      if (!generated && !from_file) {
        throw usage_error("no generator: name one, such as --kronecker 20 (convert reads files)");
      }
      expect_seed(in, false);
      // With a generator the only positional argument is the output.
      if (cmd->output.empty() && generated) std::swap(cmd->output, cmd->in.file);
      return run_command(c, *cmd);
    };
  });
}

}  // namespace

void add_convert(CLI::App& app, common& c, action& chosen) {
  add(app, "convert", "Write a graph in another format", c, chosen, true);
}

void add_generate(CLI::App& app, common& c, action& chosen) {
  add(app, "generate", "Write a generated graph", c, chosen, false);
}

}  // namespace cairn::cli
