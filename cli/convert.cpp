// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cairn/graph/io/edge_list.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/native.hpp>

#include "cli/input.hpp"
#include "cli/output.hpp"

namespace cairn::cli {
namespace {

using graph::io::file_format;

file_format writable_format(const std::string& path) {
  const auto format = graph::io::format_of(path);
  if (format != file_format::native && format != file_format::edge_list &&
      format != file_format::weighted_edge_list) {
    throw usage_error(path +
                      ": graphs are written as .el, .txt, .wel or .cairn, also .gz, .zst or .xz");
  }
  return format;
}

void write_graph(world& w, const graph::any_graph& g, const std::string& path, file_format format,
                 graph::io::undirected_edges edges) {
  const auto whole = std::visit([](const auto& rows) { return graph::io::native_view(rows); }, g);
  if (format == file_format::native) {
    graph::io::write_native(w.pool(), path, whole);
  } else {
    graph::io::write_edge_list(w.pool(), path, whole, edges);
  }
}

int run_command(const std::string& name, common c, const input_options& in,
                const std::string& output, bool once) {
  if (c.settings.ranks > 1) throw usage_error(name + " runs on one rank");
  c.settings.ranks = 1;
  if (output.empty()) throw usage_error("no output: name the file to write");
  const auto format = writable_format(output);
  check_writable(output, in.file);
  graph_keeper graphs(in, {}, !c.quiet);
  return run_ranks(c, [&](world& w) {
    report r(name, c, w);
    const auto& g = graphs.get(w, r);
    const auto start = w.clock().now_ns();
    using graph::io::undirected_edges;
    write_graph(w, g, output, format, once ? undirected_edges::once : undirected_edges::both_ways);
    const auto seconds = static_cast<double>(w.clock().now_ns() - start) * 1e-9;
    r["result"] = {{"file", output}, {"write_seconds", seconds}};
    r.line("wrote", fmt::format("{} in {}", output, human_seconds(seconds)));
    r.count(w);
    r.print(w);
    return 0;
  });
}

void add(CLI::App& app, const std::string& name, const std::string& help, common& c, action& chosen,
         bool from_file) {
  auto& command = *app.add_subcommand(name, help);
  const auto in = std::make_shared<input_options>();
  const auto output = std::make_shared<std::string>();
  add_input(command, *in);
  command.add_option("OUTPUT,--output,-o", *output,
                     "The file to write: .el .txt .wel .cairn, also .gz .zst .xz");
  const auto once = std::make_shared<bool>(false);
  command.add_flag("--once", *once,
                   "In an edge list, write an undirected edge once: read it with --symmetrize");
  add_common(command, c);
  command.callback([=, &c, &chosen] {
    chosen = [=, &c] {
      // With a generator the only name on the line is the output's.
      if (output->empty() && !from_file) std::swap(*output, in->file);
      return run_command(name, c, *in, *output, *once);
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
