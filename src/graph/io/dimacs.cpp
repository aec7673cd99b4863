// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/dimacs.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/text_source.hpp>

#include "declared_ids.hpp"
#include "entry_lines.hpp"
#include "flow_lines.hpp"

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
                      const std::optional<flow_terminals>& ends) {
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
                  undirected_edges edges, const std::optional<flow_terminals>& ends) {
  const auto inner = without_compression(path);
  const bool flow = inner.ends_with(".max"), coloring = inner.ends_with(".col");
  if (!flow && !coloring && !inner.ends_with(".gr")) {
    throw usage_error(path + ": a DIMACS file's name ends in .gr, .max or .col");
  }
  CAIRN_EXPECTS(flow || !ends, "only a .max file has the ends of a flow");
  const auto ordered = by_declared_ids(workers, path, g, "a DIMACS file");
  const auto form = flow       ? flow_form(workers, path, ordered.g, ends)
                    : coloring ? coloring_form(workers, path, ordered.g)
                               : shortest_paths_form(workers, path, ordered.g, edges);
  const auto file = create_file(path, check_of(workers));
  file->write(form.head);
  write_entry_lines(workers, *file, ordered.g, form.style);
  file->finish();
}

void read_terminal(const head_lines& at, std::uint64_t vertices, flow_terminals& found) {
  const auto words = at.words();
  const bool sink = words.size() == 3 && words[2] == "t";
  if (words.size() != 3 || words[0] != "n" || !(sink || words[2] == "s")) {
    throw text_fault{at.line(),
                     "expected 'n ID s' or 'n ID t', found " + quoted_line(at.line(), at.stop())};
  }
  std::uint64_t id = 0;
  const char* const behind = scan_id(words[1].data(), at.stop(), id);
  if (behind != words[1].data() + words[1].size()) fail_id(words[1].data(), at.stop());
  if (id < 1 || id > vertices) {
    throw text_fault{words[1].data(), "expected an id from 1 to " + std::to_string(vertices) +
                                          ", found " + std::to_string(id)};
  }
  auto& end = sink ? found.sink : found.source;
  if (end != 0) throw text_fault{at.line(), sink ? "a second sink" : "a second source"};
  end = id;
  if (found.source == found.sink) throw text_fault{at.line(), "the source is also the sink"};
}

namespace {

constexpr std::size_t max_dimacs_head_bytes = 32u << 20;

std::uint64_t declared_vertices(const head_lines& at) {
  const auto numbers = at.numbers(2);
  if (numbers.empty()) throw text_fault{at.line(), "expected 'p max VERTICES ARCS'"};
  return numbers[0];
}

/// The terminals before the first arc, 0 for those that are not named. Nothing if the head ends
/// before it.
std::optional<flow_terminals> ends_in(std::string_view head, bool whole) {
  head_lines at(head, whole);
  flow_terminals found;
  std::optional<std::uint64_t> vertices;
  while (at.next_but("c")) {
    const auto words = at.words();
    if (words[0] == "n") {
      if (!vertices) fail_problem(at);
      read_terminal(at, *vertices, found);
      continue;
    }
    // Only flows have terminals.
    if (words[0] != "p" || words.size() < 2 || words[1] != "max") return found;
    vertices = declared_vertices(at);
  }
  if (!whole) return std::nullopt;
  return found;
}

}  // namespace

flow_terminals read_flow_terminals(const std::string& path) {
  text_source source(path, max_dimacs_head_bytes);
  for (std::size_t bytes = std::size_t{64} << 10; bytes <= max_dimacs_head_bytes; bytes *= 8) {
    const auto head = source.head(bytes);
    try {
      const auto found = ends_in(head, head.size() < bytes);
      if (!found) continue;
      return *found;
    } catch (const text_fault& fault) {
      throw source.error(static_cast<std::uint64_t>(fault.at - head.data()), fault.problem);
    }
  }
  return {};  // no arc in the part in which the ends are
}

flow_terminals read_flow_terminals(const std::string& path, bool source_given, bool sink_given) {
  const auto found = read_flow_terminals(path);
  if (found.source == 0 && found.sink != 0 && !source_given) {
    throw input_error::in_file(path,
                               "names the sink, but no source ('n ID s') before the first arc");
  }
  if (found.sink == 0 && found.source != 0 && !sink_given) {
    throw input_error::in_file(path,
                               "names the source, but no sink ('n ID t') before the first arc");
  }
  return found;
}

}  // namespace cairn::graph::io
