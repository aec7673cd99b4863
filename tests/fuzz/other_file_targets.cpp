// SPDX-License-Identifier: Apache-2.0
//
// Files that hold no graph: tables, properties and data sets, costs; and what settings accept.
#include <array>
#include <string>
#include <string_view>

#include <cairn/algo/string_pool.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/settings.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/graph/graphalytics.hpp>
#include <cairn/graph/io/properties.hpp>
#include <cairn/graph/io/table.hpp>
#include <cairn/graph/io/vertex_lines.hpp>

#include "cli/cost_files.hpp"
#include "fuzz.hpp"

namespace cairn::fuzz {
namespace {

constexpr std::uint64_t max_rows = 1000;

std::string_view text_of(input contents) {
  return {reinterpret_cast<const char*>(contents.data()), contents.size()};
}

input bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Calls f, which may refuse its input.
template <class F>
void may_refuse(F&& f) {
  try {
    f();
  } catch (const input_error&) {
  } catch (const usage_error&) {
  }
}

void read_table_of(const std::string& name, input contents, const graph::word_list* words) {
  const auto path = file_with(name, contents);
  may_refuse([&] {
    const auto rows =
        graph::io::read_table(small_world().pool(), path, max_rows, words,
                              [](std::string_view column) { return column == "component"; });
    const auto values = std::visit([](const auto& v) { return v.size(); }, rows.values);
    if (values != rows.ids.size() || values > max_rows) fail("a table of unequal columns");
  });
}

}  // namespace

void read_text_table(input contents) {
  read_table_of("t.csv", contents, nullptr);
  read_table_of("t.tsv", contents, nullptr);
  static const graph::word_list words = [] {
    graph::word_list some;
    for (const auto* const word : {"alice", "bob", "eve"}) some.push_back(word);
    return some;
  }();
  read_table_of("t.csv", contents, &words);
}

void read_npy(input contents) { read_table_of("t.npy", contents, nullptr); }

void read_properties(input contents) {
  const auto path = file_with("p.properties", contents);
  may_refuse([&] {
    const graph::io::properties all(path);
    for (const auto* const key : {"a", "b", "graph.p.directed"}) {
      if (!all.contains(key)) continue;
      may_refuse([&] { static_cast<void>(all.integer(key)); });
      may_refuse([&] { static_cast<void>(all.real(key)); });
      may_refuse([&] { static_cast<void>(all.boolean(key)); });
    }
  });
  may_refuse([&] { static_cast<void>(graph::graphalytics_dataset(path)); });
}

// The files of a data set, each after a line "=== NAME".
void read_graphalytics(input contents) {
  constexpr std::array<std::string_view, 2> names{"d.v", "d.e"};
  auto rest = text_of(contents);
  std::string properties;
  for (const auto name : names) static_cast<void>(file_with(std::string(name), bytes_of("")));
  const auto next = [&] {
    const auto at = rest.find("=== ");
    const auto part = rest.substr(0, at);
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 4);
    return part;
  };
  const auto path = file_with("d.properties", bytes_of(next()));
  while (!rest.empty()) {
    const auto part = next();
    for (const auto name : names) {
      if (!part.starts_with(name)) continue;
      const auto line = std::min(part.size(), part.find('\n') + 1);
      static_cast<void>(file_with(std::string(name), bytes_of(part.substr(line))));
    }
  }
  may_refuse([&] {
    const graph::graphalytics_dataset from(path);
    // It may name any file: only those of this folder are of interest here.
    const auto folder = path.substr(0, path.rfind('/') + 1);
    if (from.vertex_file() != folder + "d.v" || from.edge_file() != folder + "d.e") return;
    const auto loaded = graph::load(small_world(), from);
    std::visit(
        [](const auto& g) {
          for (std::uint64_t v = 0; v < g.num_vertices(); ++v) {
            for (const auto u : g.out().neighbors(v)) {
              if (u >= g.num_vertices()) fail("an edge leads to no vertex");
            }
          }
        },
        loaded.graph);
  });
}

// Walks, as `verify --paths` reads them.
void read_vertex_lines(input contents) {
  const graph::labels names(graph::consecutive_ids{.first = 1, .size = max_rows});
  for (const auto* const name : {"w.csv", "w.tsv", "w.txt"}) {
    const auto path = file_with(name, contents);
    may_refuse([&] {
      const auto lines = graph::io::read_vertex_lines(small_world().pool(), path, names);
      std::uint64_t before = 0;
      for (const auto end : lines.ends) {
        if (end <= before) fail("a line without vertices");
        before = end;
      }
      if (before != lines.vertices.size()) fail("vertices of no line");
      for (const auto v : lines.vertices) {
        if (v >= max_rows) fail("a line holds what is no vertex");
      }
    });
  }
}

// Words of a hash map.
void read_strings(input contents) {
  const auto path = file_with("w.txt", contents);
  may_refuse([&] {
    const auto found = algo::read_words(small_world(), path);
    if (found.words.empty()) fail("a file without words is accepted");
    for (const auto& word : found.words) {
      if (word.view().empty()) fail("an empty word");
    }
  });
}

void read_costs(input contents) {
  const auto path = file_with("costs.json", contents);
  may_refuse([&] { static_cast<void>(cli::read_fitted_costs(path)); });
  may_refuse([&] { static_cast<void>(cli::read_cluster_costs(path)); });
}

// A setting on each line.
void read_settings(input contents) {
  settings all;
  for (auto rest = text_of(contents); !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    may_refuse([&] { all.set(line); });
    may_refuse([&] {
      const std::array<std::string, 1> arguments{"--" + std::string(line)};
      static_cast<void>(all.take_options(arguments));
    });
    may_refuse([&] { static_cast<void>(parse_simulation(line, cluster_costs{})); });
    may_refuse([&] { static_cast<void>(clock_file_of(line)); });
  }
  for (const auto& row : setting::all()) {
    const auto text = all.text(row.name);
    if (text.empty()) continue;
    settings again;
    again.set(row.name, text);
    if (again.text(row.name) != text) fail(std::string(row.name) + " is not read back: " + text);
  }
}

}  // namespace cairn::fuzz
