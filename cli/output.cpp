// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <optional>
#include <string_view>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/graph/io/table.hpp>

namespace cairn::cli {
namespace {

constexpr std::size_t rows_at_once = 1u << 20;  // gathered from all ranks together

}  // namespace

void check_output(const std::string& path) {
  const auto name = graph::io::without_compression(path);
  if (name.ends_with(".csv") || name.ends_with(".tsv") || name.ends_with(".npy")) return;
  throw usage_error(path + ": results are written as .csv, .tsv or .npy, also .gz, .zst or .xz");
}

template <class Id>
void write_values(world& w, const std::string& path, const std::string& name,
                  const graph::dist_csr<Id>& g, const pgas::vertex_map<Id>& values, bool as_ids) {
  const auto n = g.num_vertices();
  std::optional<graph::io::table_writer> file;
  w.agree([&] {
    if (w.rank() == 0) file.emplace(path, name, 0, n);
  });
  const auto& names = g.labels();
  std::vector<std::uint64_t> ids;
  for (std::uint64_t first = 0; first < n; first += rows_at_once) {
    const auto last = std::min<std::uint64_t>(n, first + rows_at_once);
    const auto mine_first = std::max(first, g.out().first());
    const auto mine_last = std::min(last, g.out().last());
    std::vector<std::uint64_t> mine;
    for (auto v = mine_first; v < mine_last; ++v) {
      const Id x = values.load(v);
      if (x == no_vertex<Id>) {
        mine.push_back(graph::io::missing_value<std::uint64_t>);
      } else {
        mine.push_back(as_ids ? names.id_of(x) : x);
      }
    }
    const auto all = w.all_gather_values<std::uint64_t>(mine);
    w.agree([&] {
      if (!file) return;
      ids.clear();
      for (auto v = first; v < last; ++v) ids.push_back(names.id_of(v));
      file->append(ids, std::span<const std::uint64_t>(all));
    });
  }
  w.agree([&] {
    if (file) file->finish();
  });
}

template void write_values(world&, const std::string&, const std::string&,
                           const graph::dist_csr<std::uint32_t>&,
                           const pgas::vertex_map<std::uint32_t>&, bool);
template void write_values(world&, const std::string&, const std::string&,
                           const graph::dist_csr<std::uint64_t>&,
                           const pgas::vertex_map<std::uint64_t>&, bool);

}  // namespace cairn::cli
