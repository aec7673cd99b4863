// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/edge_list.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/task/parallel_for.hpp>

#include "declared_ids.hpp"
#include "entry_lines.hpp"
#include "rows.hpp"

namespace cairn::graph::io {

void write_edge_list(task::pool& workers, const std::string& path, const native_graph& g,
                     undirected_edges edges) {
  const auto inner = without_compression(path);
  const bool csv = inner.ends_with(".csv");
  const bool must_have_weights = inner.ends_with(".wel");
  if (!csv && !must_have_weights && !inner.ends_with(".el") && !inner.ends_with(".txt")) {
    throw usage_error(path + ": an edge list's name ends in .el, .txt, .wel or .csv");
  }
  if (must_have_weights && g.weights.index() == 0) {
    throw usage_error(path + ": a .wel file has weights, but the graph has none");
  }
  if (g.offsets.back() == 0) {
    throw usage_error(path + ": an edge list holds only edges, but this graph has none");
  }
  const bool once = !g.directed && edges == undirected_edges::once;
  const bool weights = g.weights.index() != 0 && (csv || must_have_weights);
  const auto file = create_file(path, check_of(workers));
  if (csv) file->write(weights ? "source,target,weight\n" : "source,target\n");
  write_entry_lines(workers, *file, g,
                    {.which = once ? sides::upper : sides::both,
                     .separator = csv ? ',' : ' ',
                     .weights = weights});
  file->finish();
}

std::uint64_t num_isolated(task::pool& workers, const native_graph& g) {
  std::vector<std::uint8_t> touched(g.num_vertices());
  const auto touch = [&](std::uint64_t v) {
    std::atomic_ref(touched[v]).store(1, std::memory_order_relaxed);
  };
  const auto num_entries = static_cast<std::size_t>(g.offsets.back());
  std::visit(
      [&](auto targets) {
        task::parallel_for(workers, {.elements = num_entries, .chunk = entries_per_piece},
                           [&](worker_t, std::size_t begin, std::size_t end) {
                             for_entries(g, begin, end, [&](std::uint64_t row, std::uint64_t i) {
                               touch(row);
                               touch(targets[i]);
                             });
                           });
      },
      g.targets);
  return static_cast<std::uint64_t>(std::count(touched.begin(), touched.end(), 0));
}

void write_matrix_market(task::pool& workers, const std::string& path, const native_graph& g) {
  if (!without_compression(path).ends_with(".mtx")) {
    throw usage_error(path + ": a MatrixMarket file's name ends in .mtx");
  }
  const auto ordered = by_declared_ids(workers, path, g, "a MatrixMarket file");
  constexpr std::array<const char*, 3> fields{"pattern", "integer", "real"};
  const auto n = std::to_string(g.num_vertices());
  const auto file = create_file(path, check_of(workers));
  file->write(std::string("%%MatrixMarket matrix coordinate ") + fields[g.weights.index()] +
              (g.directed ? " general\n" : " symmetric\n") + n + " " + n + " " +
              std::to_string(g.num_edges) + "\n");
  write_entry_lines(workers, *file, ordered.g, {.which = g.directed ? sides::both : sides::lower});
  file->finish();
}

}  // namespace cairn::graph::io
