// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/edge_list.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/output_file.hpp>
#include <cairn/graph/io/table.hpp>
#include <cairn/graph/io/vertex_lines.hpp>

#include "cli/facts.hpp"

namespace cairn::cli {
namespace {

constexpr std::size_t rows_at_once = 1u << 20;  // gathered at a time, over all ranks

// If vertices are not in the order of ids, a class may be named by another id than its smallest.
void name_by_smallest_ids(const graph::labels& names, std::vector<std::uint64_t>& by_position) {
  constexpr auto none = graph::io::missing_value<std::uint64_t>;
  std::vector<std::uint64_t> smallest(by_position.size(), none);
  for (std::uint64_t p = 0; p < by_position.size(); ++p) {
    auto& id = smallest[names.position_of(*names.vertex_of(by_position[p]))];
    if (id == none) id = names.id_at(p);
    by_position[p] = id;
  }
}

template <class Id, class T>
void write_values(world& w, const std::string& path, const graph::dist_csr<Id>& g,
                  const pgas::vertex_map<T>& values, std::string_view name, algo::value_kind kind) {
  using column = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  const auto n = g.num_vertices();
  const auto& names = g.labels();
  const bool vertices = kind != algo::value_kind::numbers;
  const auto in_column = [&](T x) -> column {
    if constexpr (std::is_integral_v<T>) {
      if (x == no_vertex<T>) return graph::io::missing_value<column>;
      return vertices ? names.id_of(x) : x;
    } else {
      return std::isinf(x) ? graph::io::missing_value<column> : x;
    }
  };
  std::optional<graph::io::table_writer> file;
  w.agree([&] {
    const auto type_index = graph::io::value_vector(std::vector<column>()).index();
    const auto* const words = names.textual() ? &names.words() : nullptr;
    if (w.rank() == 0) {
      file.emplace(path,
                   graph::io::table_shape{.value_name = std::string(name),
                                          .value_kind = type_index,
                                          .num_rows = n,
                                          .words = words,
                                          .ids_as_values = vertices && words != nullptr},
                   check_of(w));
    }
  });
  std::vector<column> by_position;  // on rank 0, if vertices are not in the order of ids
  if (!names.ascend() && w.rank() == 0) by_position.resize(n);
  std::vector<std::uint64_t> ids;
  for (std::uint64_t first = 0; first < n; first += rows_at_once) {
    const auto last = std::min<std::uint64_t>(n, first + rows_at_once);
    const auto mine_first = std::max(first, g.out().first());
    const auto mine_last = std::min(last, g.out().last());
    std::vector<column> mine;
    for (auto v = mine_first; v < mine_last; ++v) mine.push_back(in_column(values.load(v)));
    const auto all = w.all_gather_values<column>(mine);
    w.agree([&] {
      if (!file) return;
      if (!names.ascend()) {
        for (auto v = first; v < last; ++v) by_position[names.position_of(v)] = all[v - first];
        return;
      }
      ids.clear();
      for (auto v = first; v < last; ++v) ids.push_back(names.id_of(v));
      file->append(ids, std::span<const column>(all));
    });
  }
  if constexpr (std::is_same_v<column, std::uint64_t>) {
    if (kind == algo::value_kind::classes) name_by_smallest_ids(names, by_position);
  }
  w.agree([&] {
    for (std::uint64_t first = 0; first < by_position.size(); first += rows_at_once) {
      const auto rows = std::span<const column>(by_position)
                            .subspan(first, std::min(rows_at_once, by_position.size() - first));
      ids.clear();
      for (std::uint64_t p = first; p < first + rows.size(); ++p) ids.push_back(names.id_at(p));
      file->append(ids, rows);
    }
  });
  w.agree([&] {
    if (file) file->finish();
  });
}

graph::io::weight_kind weights_of(const graph::any_graph& g) {
  using graph::io::weight_kind;
  return std::visit(
      [](const auto& rows) {
        if (!rows.weighted()) return weight_kind::none;
        const bool whole = rows.out().template weighted_by<std::int32_t>();
        return whole ? weight_kind::integer : weight_kind::real;
      },
      g);
}

// The path of a file that may not exist yet; symbolic links to it are followed.
std::filesystem::path canonical(std::filesystem::path path) {
  namespace fs = std::filesystem;
  constexpr int max_links = 40;
  std::error_code unknown;
  for (int links = 0; links < max_links && fs::is_symlink(path, unknown); ++links) {
    path = path.parent_path() / fs::read_symlink(path, unknown);
  }
  return fs::weakly_canonical(fs::absolute(path, unknown), unknown);
}

}  // namespace

void check_output(const std::string& path) {
  const auto name = graph::io::without_compression(path);
  if (name.ends_with(".csv") || name.ends_with(".tsv") || name.ends_with(".npy")) return;
  throw usage_error(path + ": results are written as .csv, .tsv or .npy, also .gz, .zst or .xz");
}

void check_paths_output(const std::string& path) {
  const auto name = graph::io::without_compression(path);
  if (name.ends_with(".csv") || name.ends_with(".tsv") || name.ends_with(".txt")) return;
  throw usage_error(path + ": paths are written as .csv, .tsv or .txt, also .gz, .zst or .xz");
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code unknown;
  if (std::filesystem::equivalent(a, b, unknown)) return true;
  const auto path = canonical(a);
  return !path.empty() && path == canonical(b);
}

void check_writable(const std::string& path, const std::string& input) {
  if (!input.empty() && is_same_file(path, input)) {
    throw usage_error(path + ": is the input, which the output would replace");
  }
  graph::io::expect_writable(path);
}

void write_column(world& w, const std::string& path, const graph::any_graph& g,
                  const algo::column& values) {
  std::visit([&](const auto& rows,
                 const auto* map) { write_values(w, path, rows, *map, values.name, values.kind); },
             g, values.values);
}

void write_paths(world& w, const std::string& path, const graph::labels& names,
                 const algo::vertex_rows& rows) {
  std::unique_ptr<graph::io::byte_sink> file;
  w.agree([&] {
    if (w.rank() == 0) file = graph::io::create_file(path, check_of(w));
  });
  const char separator = graph::io::separator_of(path);
  const auto write = [&]<class Id>(std::span<const Id> own) {
    std::string text;
    const auto all = rows.rows.n();
    const auto at_once = std::max<std::uint64_t>(1, rows_at_once / rows.row_size);
    const auto my_first = rows.rows.first(w.rank()), my_last = rows.rows.last(w.rank());
    for (std::uint64_t first = 0; first < all; first += at_once) {
      const auto last = std::min(all, first + at_once);
      const auto begin = std::clamp(first, my_first, my_last) - my_first;
      const auto end = std::clamp(last, my_first, my_last) - my_first;
      const auto part = w.all_gather_values<Id>(
          own.subspan(begin * rows.row_size, (end - begin) * rows.row_size));
      w.agree([&] {
        if (!file) return;
        text.clear();
        for (std::size_t i = 0; i < part.size(); ++i) {
          const bool row_begins = i % rows.row_size == 0;
          if (row_begins && i != 0) text += '\n';
          if (part[i] == no_vertex<Id>) continue;
          if (!row_begins) text += separator;
          text += names.text_of(part[i]);
        }
        text += '\n';
        file->write(text);
      });
    }
  };
  std::visit(write, rows.own);
  w.agree([&] {
    if (file) file->finish();
  });
}

void write_forest(world& w, const std::string& path, const graph::any_graph& g,
                  const algo::forest_rows& rows) {
  std::optional<graph::io::edge_list_writer> file;
  w.agree([&] {
    if (w.rank() == 0) file.emplace(path, labels_of(g), weights_of(g), check_of(w));
  });
  const auto write = [&]<class Edge>(const std::vector<Edge>& own) {
    const auto sizes = w.all_gather(std::uint64_t{own.size()});
    const auto all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    const auto my_first =
        std::accumulate(sizes.begin(), sizes.begin() + w.rank(), std::uint64_t{0});
    const auto my_last = my_first + own.size();
    for (std::uint64_t first = 0; first < all; first += rows_at_once) {
      const auto begin = std::clamp(first, my_first, my_last) - my_first;
      const auto end = std::clamp(first + rows_at_once, my_first, my_last) - my_first;
      const auto part = w.all_gather_values<Edge>(std::span(own).subspan(begin, end - begin));
      w.agree([&] {
        if (!file) return;
        for (const auto& e : part) file->append(e.source, e.target, e.weight);
      });
    }
  };
  std::visit(write, rows);
  w.agree([&] {
    if (file) file->finish();
  });
}

}  // namespace cairn::cli
