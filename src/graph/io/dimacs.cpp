// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/dimacs.hpp>
#include <cairn/graph/io/file_format.hpp>

#include "declared_ids.hpp"
#include "entry_lines.hpp"

namespace cairn::graph::io {
namespace {

/// The lines of a file before its edges, and the style of the others.
struct dimacs_form {
  std::string head;
  line_style style;
};

std::string problem(const char* kind, const native_graph& g, std::uint64_t lines) {
  return std::string("p ") + kind + " " + std::to_string(g.num_vertices()) + " " +
         std::to_string(lines) + "\n";
}

dimacs_form arcs(const char* kind, const native_graph& g) {
  return {problem(kind, g, g.offsets.back()), {.prefix = "a "}};
}

dimacs_form shortest_paths_form(task::pool& workers, const std::string& path, const native_graph& g,
                                undirected_edges edges) {
  if (!g.directed && g.weights.index() == 0) {
    return {problem("tw", g, g.num_edges), {.which = sides::upper}};
  }
  expect_integers(workers, path, g,
                  g.directed ? "a .gr file of a directed graph" : "a .gr file of arcs",
                  std::numeric_limits<std::int32_t>::min());
  auto form = arcs("sp", g);
  if (!g.directed && edges == undirected_edges::once) {
    form.head = problem("sp", g, g.num_edges);
    form.style.which = sides::upper;
  }
  return form;
}

dimacs_form flow_form(task::pool& workers, const std::string& path, const native_graph& g,
                      const std::optional<flow_ends>& ends) {
  if (!ends) throw usage_error(path + ": a .max file names the source and the sink of a flow");
  for (const auto id : {ends->source, ends->sink}) {
    if (id >= 1 && id <= g.num_vertices()) continue;
    throw usage_error(path + ": " + std::to_string(id) + " is not a vertex");
  }
  if (ends->source == ends->sink) {
    throw usage_error(path + ": the source and the sink of a flow differ");
  }
  expect_integers(workers, path, g, "a .max file", 0);
  auto form = arcs("max", g);
  form.head += "n " + std::to_string(ends->source) + " s\nn " + std::to_string(ends->sink) + " t\n";
  return form;
}

dimacs_form coloring_form(task::pool& workers, const std::string& path, const native_graph& g) {
  expect_simple(workers, path, g, "a .col file");
  if (g.weights.index() != 0) {
    throw usage_error(path + ": a .col file has no weights, but this graph has them");
  }
  return {problem("edge", g, g.num_edges), {.which = sides::upper, .prefix = "e "}};
}

}  // namespace

void write_dimacs(task::pool& workers, const std::string& path, const native_graph& g,
                  undirected_edges edges, const std::optional<flow_ends>& ends) {
  const auto inner = without_compression(path);
  const bool flow = inner.ends_with(".max"), coloring = inner.ends_with(".col");
  if (!flow && !coloring && !inner.ends_with(".gr")) {
    throw usage_error(path + ": a DIMACS file's name ends in .gr, .max or .col");
  }
  CAIRN_EXPECTS(flow || !ends, "only a .max file has the ends of a flow");
  const auto ordered = by_declared_ids(path, g, "a DIMACS file");
  const auto form = flow       ? flow_form(workers, path, ordered.g, ends)
                    : coloring ? coloring_form(workers, path, ordered.g)
                               : shortest_paths_form(workers, path, ordered.g, edges);
  const auto file = create_file(path);
  file->write(form.head);
  write_entry_lines(workers, *file, ordered.g, form.style);
  file->finish();
}

}  // namespace cairn::graph::io
