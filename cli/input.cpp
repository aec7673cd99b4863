// SPDX-License-Identifier: Apache-2.0
#include "cli/input.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include <cairn/graph/io/dimacs.hpp>
#include <cairn/graph/io/file_format.hpp>

#include "cli/progress.hpp"

namespace cairn::cli {
namespace {

constexpr auto group = "Graph";

template <class T>
T number(std::string_view text, const std::string& whole, const char* expected) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    throw usage_error(fmt::format("'{}' is not {}", whole, expected));
  }
  if (error != std::errc()) {
    const auto* const fault = std::is_integral_v<T> ? "too large" : "not in the range of doubles";
    throw usage_error(fmt::format("'{}' is {}", whole, fault));
  }
  return value;
}

// Splits "A<separator>B"; the second part is empty without a separator.
std::pair<std::string_view, std::string_view> halves(std::string_view text, char separator) {
  const auto at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

template <class Kind>
Kind by_scale(const std::string& text, int degree) {
  constexpr auto expected = "SCALE or SCALE:EDGEFACTOR";
  const auto [scale, factor] = halves(text, ':');
  Kind kind;
  kind.scale = number<int>(scale, text, expected);
  if (!factor.empty() || text.ends_with(':')) {
    kind.edge_factor = number<int>(factor, text, expected);
  } else if (degree != 0) {
    kind.edge_factor = degree;
  }
  return kind;
}

graph::erdos_renyi_graph erdos_renyi(const std::string& text) {
  constexpr auto expected = "N:P, such as 1000:0.01";
  const auto [n, p] = halves(text, ':');
  return {number<std::uint64_t>(n, text, expected), number<double>(p, text, expected)};
}

graph::grid_graph grid(const std::string& text) {
  constexpr auto expected = "ROWSxCOLS, such as 100x200";
  const auto [rows, columns] = halves(text, 'x');
  return {number<std::uint64_t>(rows, text, expected),
          number<std::uint64_t>(columns, text, expected)};
}

bool is_edge_list(const std::string& file) {
  using graph::io::file_format;
  if (file.empty()) return false;
  const auto format = graph::io::format_of(file);
  return format == file_format::edge_list || format == file_format::weighted_edge_list ||
         format == file_format::csv;
}

}  // namespace

void add_generator(CLI::App& command, input_options& in) {
  command.add_option("--kronecker,-g", in.kronecker, "Generate a Graph500 Kronecker graph")
      ->type_name("SCALE[:EDGEFACTOR]")
      ->check(not_empty())
      ->group(group);
  command.add_option("--uniform,-u", in.uniform, "Generate a uniform random graph")
      ->type_name("SCALE[:EDGEFACTOR]")
      ->check(not_empty())
      ->group(group);
  command.add_option("--erdos-renyi", in.erdos_renyi, "Generate G(n, p)")
      ->type_name("N:P")
      ->check(not_empty())
      ->group(group);
  command.add_option("--grid", in.grid, "Generate a grid")
      ->type_name("ROWSxCOLS")
      ->check(not_empty())
      ->group(group);
  command.add_option("-k", in.degree, "Edge factor of -g and -u (default: 16)")
      ->type_name("N")
      ->group(group)
      ->transform(unsigned_integer(1, std::numeric_limits<int>::max()));
  command
      .add_option("--seed", in.seed,
                  "Seed of generators, random sources and --order random (default: 1)")
      ->type_name("N")
      ->transform(unsigned_integer())
      ->group(group);
  command
      .add_option("--order", in.order,
                  "Internal order of vertices (ids are unchanged): as in the file, by degree, or "
                  "permuted by a hash or by --seed (default: file)")
      ->check(CLI::IsMember({"file", "degree", "hash", "random"}))
      ->group(group);
}

void add_whole_input(CLI::App& command, input_options& in) {
  command
      .add_option(
          "INPUT,-f,--file", in.file,
          "A file: .txt .el .wel .csv .mtx .gr .max .col .graph .cairn, plain or .gz .zst .xz")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(group);
  add_generator(command, in);
  command
      .add_option("--ids", in.ids, "Type of the ids in an edge list or .csv file (default: number)")
      ->check(CLI::IsMember({"number", "text"}))
      ->group(group);
  command
      .add_flag("--symmetrize,-s", in.symmetrize, "Make the edges of a directed file undirected")
      ->group(group);
  command
      .add_flag("--drop-self-loops", in.drop_self_loops,
                "Leave out edges of a file from a vertex to itself")
      ->group(group);
  command
      .add_flag("--drop-duplicates", in.drop_duplicates,
                "Keep one of the edges of a file with equal ends: the one of least weight")
      ->group(group);
}

void add_input(CLI::App& command, input_options& in) {
  add_whole_input(command, in);
  command
      .add_option(
          "--partition", in.partition,
          "Balance ranks by vertices, or by the sum of vertices and edges (default: vertices)")
      ->check(CLI::IsMember({"vertices", "edges"}))
      ->group(group);
}

bool is_generated(const input_options& in) {
  return !(in.kronecker + in.uniform + in.erdos_renyi + in.grid).empty();
}

graph::source source_of(const input_options& in) {
  const int named = !in.file.empty() + !in.kronecker.empty() + !in.uniform.empty() +
                    !in.erdos_renyi.empty() + !in.grid.empty();
  if (named == 0) throw usage_error("no graph: name a file or a generator such as --kronecker 20");
  if (in.degree != 0 && in.kronecker.empty() && in.uniform.empty()) {
    throw usage_error("-k is the edge factor of --kronecker and --uniform");
  }
  if (in.degree != 0 && (in.kronecker + in.uniform).find(':') != std::string::npos) {
    throw usage_error("-k and SCALE:EDGEFACTOR both give an edge factor");
  }
  if (named > 1) throw usage_error("several graphs: name one file or one generator");
  if (!in.ids.empty() && !is_edge_list(in.file)) {
    throw usage_error("--ids is for edge lists and .csv files: " + name_of(in) +
                      " determines the kind of its ids");
  }
  if (!in.file.empty()) return in.file;
  if (in.symmetrize) {
    throw usage_error("--symmetrize is for files: generated graphs are undirected");
  }
  if (in.drop_self_loops || in.drop_duplicates) {
    throw usage_error(fmt::format("--drop-{} is for files: generated graphs have none",
                                  in.drop_self_loops ? "self-loops" : "duplicates"));
  }
  graph::generator g{.kind = {}, .seed = seed_of(in)};
  if (!in.kronecker.empty()) g.kind = by_scale<graph::kronecker_graph>(in.kronecker, in.degree);
  if (!in.uniform.empty()) g.kind = by_scale<graph::uniform_graph>(in.uniform, in.degree);
  if (!in.erdos_renyi.empty()) g.kind = erdos_renyi(in.erdos_renyi);
  if (!in.grid.empty()) g.kind = grid(in.grid);
  return g;
}

void expect_seed(const input_options& in, bool draws) {
  if (!in.seed || draws || is_generated(in) || in.order == "random") return;
  throw usage_error("--seed has no effect here: nothing is random");
}

std::string name_of(const input_options& in) {
  const auto by_scale = [&](const std::string& scale) {
    const bool factor_apart = in.degree != 0 && scale.find(':') == std::string::npos;
    return factor_apart ? fmt::format("{}:{}", scale, in.degree) : scale;
  };
  if (!in.kronecker.empty()) return "kronecker " + by_scale(in.kronecker);
  if (!in.uniform.empty()) return "uniform " + by_scale(in.uniform);
  if (!in.erdos_renyi.empty()) return "erdos-renyi " + in.erdos_renyi;
  if (!in.grid.empty()) return "grid " + in.grid;
  return std::filesystem::path(in.file).filename().string();
}

std::string path_of(const input_options& in) { return in.file.empty() ? name_of(in) : in.file; }

json id_in_json(const graph::labels& names, std::uint64_t v) {
  if (names.textual()) return names.text_of(v);
  return names.id_of(v);
}

algo::option_values with_flow_terminals(world& w, const input_options& in, const algo::algorithm& a,
                                        algo::option_values given) {
  const auto is_end = [](const algo::option_info& o) { return o.name == "from" || o.name == "to"; };
  if (std::ranges::count_if(a.options(), is_end) != 2 ||
      (given.contains("from") && given.contains("to")) || in.file.empty() ||
      graph::io::format_of(in.file) != graph::io::file_format::dimacs) {
    return given;
  }
  graph::io::flow_terminals ends;
  w.agree([&] {
    if (w.rank() != 0) return;
    ends = graph::io::read_flow_terminals(in.file, given.contains("from"), given.contains("to"));
  });
  const auto source = w.max(ends.source), sink = w.max(ends.sink);
  if (source != 0) given.try_emplace("from", std::to_string(source));
  if (sink != 0) given.try_emplace("to", std::to_string(sink));
  return given;
}

graph_keeper::graph_keeper(const input_options& in, graph::load_options options, bool show_progress)
    : in_(in), source_(source_of(in)), options_(std::move(options)), show_progress_(show_progress) {
  options_.build.symmetrize = in.symmetrize;
  options_.build.drop_self_loops = in.drop_self_loops;
  options_.build.drop_duplicates = in.drop_duplicates;
  if (in.order == "degree") options_.order = graph::order_kind::degree;
  if (in.order == "hash") options_.order = graph::order_kind::hash;
  if (in.order == "random") options_.order = graph::order_kind::random;
  options_.order_seed = seed_of(in);
  if (in.partition == "edges") options_.build.partition = graph::partition_kind::edges;
  if (in.ids == "text") options_.read.ids = graph::io::id_kind::text;
}

graph::any_graph& graph_keeper::get(world& w, report& r) {
  const auto at = static_cast<std::size_t>(w.rank());
  if (shares_.size() <= at) shares_.resize(static_cast<std::size_t>(w.size()));
  auto& share = shares_[at];
  if (!share) {
    progress bar(show_progress_ && w.rank() == 0, name_of(in_));
    const char* const first = in_.file.empty() ? "generating " : "loading ";
    bar.at(first, 0, 0);
    auto options = options_;
    options.read.progress = [&](std::uint64_t done, std::uint64_t all) {
      bar.at(first, done, all);
    };
    options.build.progress = [&](std::uint64_t done, std::uint64_t all) {
      bar.at("building ", done, all);
    };
    share = std::make_unique<graph::loaded_graph>(graph::load(w, source_, options));
  }
  r["seconds"]["load"] = share->load_seconds;
  r["seconds"]["build"] = share->build_seconds;
  std::visit(
      [&](const auto& g) {
        using id = typename std::remove_cvref_t<decltype(g)>::id_type;
        r["graph"] = {{"name", name_of(in_)},     {"vertices", g.num_vertices()},
                      {"edges", g.num_edges()},   {"directed", g.directed()},
                      {"weighted", g.weighted()}, {"id_bits", sizeof(id) * 8}};
        r.line("graph", fmt::format("{}: {} vertices, {} {} edges", name_of(in_),
                                    format_count(g.num_vertices()), format_count(g.num_edges()),
                                    g.directed() ? "directed" : "undirected"));
      },
      share->graph);
  return share->graph;
}

void say_load(report& r) {
  const auto& seconds = r["seconds"];
  r.line("load", fmt::format("{}, build {}", format_seconds(seconds["load"].get<double>()),
                             format_seconds(seconds["build"].get<double>())));
}

int run_ranks(const common& c, const rank_body& body) {
  return run_ranks(
      c, [](world&) {}, body);
}

int run_ranks(const common& c, const std::function<void(world&)>& expect, const rank_body& body) {
  expect_effect(c);
  const int status = run(
      c.settings,
      [&](world& w) {
        expect(w);
        expect_effect(c, w);
        return body(w);
      },
      say);
  end_series(c);
  return status;
}

}  // namespace cairn::cli
