// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <filesystem>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/output_file.hpp>
#include <cairn/graph/io/table.hpp>

namespace cairn::cli {
namespace {

constexpr std::size_t rows_at_once = 1u << 20;  // gathered from all ranks together

template <class Id, class T>
void write_values(world& w, const std::string& path, const graph::dist_csr<Id>& g,
                  const pgas::vertex_map<T>& values, std::string_view name, bool vertices) {
  using column = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  const auto n = g.num_vertices();
  const auto& names = g.labels();
  const auto in_column = [&](T x) -> column {
    if constexpr (std::is_integral_v<T>) {
      if (x == no_vertex<T>) return graph::io::missing_value<column>;
      return vertices ? names.id_of(x) : x;
    } else {
      return x;
    }
  };
  std::optional<graph::io::table_writer> file;
  w.agree([&] {
    const auto kind = graph::io::value_vector(std::vector<column>()).index();
    if (w.rank() == 0) file.emplace(path, std::string(name), kind, n);
  });
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
      ids.clear();
      for (auto v = first; v < last; ++v) ids.push_back(names.id_of(v));
      file->append(ids, std::span<const column>(all));
    });
  }
  w.agree([&] {
    if (file) file->finish();
  });
}

}  // namespace

void check_output(const std::string& path) {
  const auto name = graph::io::without_compression(path);
  if (name.ends_with(".csv") || name.ends_with(".tsv") || name.ends_with(".npy")) return;
  throw usage_error(path + ": results are written as .csv, .tsv or .npy, also .gz, .zst or .xz");
}

void check_writable(const std::string& path, const std::string& input) {
  std::error_code unknown;  // of a file that is not there
  if (!input.empty() && std::filesystem::equivalent(path, input, unknown)) {
    throw usage_error(path + ": is the input, which the output would replace");
  }
  graph::io::expect_writable(path);
}

void write_column(world& w, const std::string& path, const graph::any_graph& g,
                  const algo::column& values) {
  std::visit(
      [&](const auto& rows, const auto* map) {
        write_values(w, path, rows, *map, values.name, values.vertices);
      },
      g, values.values);
}

}  // namespace cairn::cli
