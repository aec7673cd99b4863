// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <type_traits>
#include <vector>

#include <cairn/base/error.hpp>
#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/edge_list.hpp>
#include <cairn/graph/io/file_format.hpp>
#include <cairn/task/parallel_for.hpp>

namespace cairn::graph::io {
namespace {

constexpr std::uint64_t entries_per_piece = std::uint64_t{1} << 16;
// Two ids of 20 digits, a real weight of 24, two blanks and a newline.
constexpr std::size_t most_line_bytes = 72;

/// The lines of the entries [begin, end).
template <class Targets, class Weights>
void format(const native_graph& g, Targets targets, Weights weights, bool once, std::uint64_t begin,
            std::uint64_t end, std::vector<char>& text) {
  text.resize((end - begin) * most_line_bytes);
  char* at = text.data();
  char* const stop = at + text.size();
  const auto id_of = [&](std::uint64_t v) { return g.labels.empty() ? v : g.labels[v]; };
  auto row = static_cast<std::uint64_t>(
      std::upper_bound(g.offsets.begin(), g.offsets.end(), begin) - g.offsets.begin() - 1);
  for (auto i = begin; i < end; ++i) {
    while (g.offsets[row + 1] <= i) ++row;
    if (once && targets[i] < row) continue;
    at = std::to_chars(at, stop, id_of(row)).ptr;
    *at++ = ' ';
    at = std::to_chars(at, stop, id_of(targets[i])).ptr;
    if constexpr (!std::is_same_v<Weights, std::monostate>) {
      *at++ = ' ';
      at = std::to_chars(at, stop, weights[i]).ptr;
    }
    *at++ = '\n';
  }
  text.resize(static_cast<std::size_t>(at - text.data()));
}

}  // namespace

void write_edge_list(task::pool& workers, const std::string& path, const native_graph& g,
                     undirected_edges edges) {
  const auto inner = without_compression(path);
  const bool weighted = inner.ends_with(".wel");
  if (!weighted && !inner.ends_with(".el") && !inner.ends_with(".txt")) {
    throw usage_error(path + ": an edge list's name ends in .el, .txt or .wel");
  }
  if (weighted && g.weights.index() == 0) {
    throw usage_error(path + ": a .wel file has weights, but the graph has none");
  }
  const auto file = create_file(path);
  const bool once = !g.directed && edges == undirected_edges::once;
  const auto num_entries = g.offsets.back();
  // So many pieces are formatted in parallel, then written in order.
  std::vector<std::vector<char>> pieces(4 * static_cast<std::size_t>(workers.workers()));
  for (std::uint64_t done = 0; done < num_entries; done += pieces.size() * entries_per_piece) {
    task::parallel_for(workers, pieces.size(), 1, [&](worker_t, std::size_t i, std::size_t) {
      const auto begin = std::min(num_entries, done + i * entries_per_piece);
      const auto end = std::min(num_entries, begin + entries_per_piece);
      const auto none =
          std::variant<std::monostate, std::span<const std::int32_t>, std::span<const double>>();
      std::visit([&](auto targets,
                     auto weights) { format(g, targets, weights, once, begin, end, pieces[i]); },
                 g.targets, weighted ? g.weights : none);
    });
    for (const auto& piece : pieces) file->write({piece.data(), piece.size()});
  }
  file->finish();
}

}  // namespace cairn::graph::io
