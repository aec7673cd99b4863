// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <string>
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
// Digits of an id; and bytes of a real weight (24), two blanks and a newline.
constexpr std::size_t most_digits = 20, most_rest_bytes = 32;

/// Which entries of an undirected graph are written.
enum class sides { both, upper, lower };

/// Writes the entries of a graph as lines, in parallel.
class line_writer {
 public:
  line_writer(const native_graph& g, sides which) : g_(g), sides_(which) {
    auto id_bytes = most_digits;
    if (g.words != nullptr) {
      for (std::uint64_t i = 0; i < g.words->size(); ++i) {
        id_bytes = std::max(id_bytes, (*g.words)[i].size());
      }
    }
    most_line_bytes_ = 2 * id_bytes + most_rest_bytes;
  }

  /// with_weights  false: omits the weights
  void write(task::pool& workers, byte_sink& file, bool with_weights) const {
    const auto num_entries = g_.offsets.back();
    // The pieces are formatted in parallel, then written in order.
    std::vector<std::vector<char>> pieces(4 * static_cast<std::size_t>(workers.workers()));
    for (std::uint64_t done = 0; done < num_entries; done += pieces.size() * entries_per_piece) {
      task::parallel_for(workers, pieces.size(), 1, [&](worker_t, std::size_t i, std::size_t) {
        const auto begin = std::min(num_entries, done + i * entries_per_piece);
        const auto end = std::min(num_entries, begin + entries_per_piece);
        const decltype(g_.weights) none;
        std::visit(
            [&](auto targets, auto weights) { format(targets, weights, begin, end, pieces[i]); },
            g_.targets, with_weights ? g_.weights : none);
      });
      for (const auto& piece : pieces) file.write({piece.data(), piece.size()});
    }
  }

 private:
  char* put_id(char* at, std::uint64_t v) const {
    const auto id = g_.label_of(v);
    if (g_.words == nullptr) return std::to_chars(at, at + most_digits, id).ptr;
    const auto word = (*g_.words)[id];
    return std::copy(word.begin(), word.end(), at);
  }

  /// Formats entries [begin, end) as lines.
  template <class Targets, class Weights>
  void format(Targets targets, Weights weights, std::uint64_t begin, std::uint64_t end,
              std::vector<char>& text) const {
    text.resize((end - begin) * most_line_bytes_);
    char* at = text.data();
    auto row = static_cast<std::uint64_t>(
        std::upper_bound(g_.offsets.begin(), g_.offsets.end(), begin) - g_.offsets.begin() - 1);
    for (auto i = begin; i < end; ++i) {
      while (g_.offsets[row + 1] <= i) ++row;
      if (sides_ == sides::upper && targets[i] < row) continue;
      if (sides_ == sides::lower && targets[i] > row) continue;
      at = put_id(at, row);
      *at++ = ' ';
      at = put_id(at, targets[i]);
      if constexpr (!std::is_same_v<Weights, std::monostate>) {
        *at++ = ' ';
        at = std::to_chars(at, at + most_rest_bytes, weights[i]).ptr;
      }
      *at++ = '\n';
    }
    text.resize(static_cast<std::size_t>(at - text.data()));
  }

  const native_graph& g_;
  sides sides_;
  std::size_t most_line_bytes_ = 0;
};

bool counts_from_1(const native_graph& g) {
  if (g.words != nullptr) return false;
  for (std::uint64_t v = 0; v < g.num_vertices(); ++v) {
    if (g.label_of(v) != v + 1) return false;
  }
  return true;
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
  line_writer(g, once ? sides::upper : sides::both).write(workers, *file, weighted);
  file->finish();
}

void write_matrix_market(task::pool& workers, const std::string& path, const native_graph& g) {
  if (!without_compression(path).ends_with(".mtx")) {
    throw usage_error(path + ": a MatrixMarket file's name ends in .mtx");
  }
  if (!counts_from_1(g)) {
    throw usage_error(
        path +
        ": a MatrixMarket file requires the vertex ids 1 to n, but this graph has other ids");
  }
  constexpr std::array<const char*, 3> fields{"pattern", "integer", "real"};
  const auto n = std::to_string(g.num_vertices());
  const auto file = create_file(path);
  file->write(std::string("%%MatrixMarket matrix coordinate ") + fields[g.weights.index()] +
              (g.directed ? " general\n" : " symmetric\n") + n + " " + n + " " +
              std::to_string(g.num_edges) + "\n");
  line_writer(g, g.directed ? sides::both : sides::lower).write(workers, *file, true);
  file->finish();
}

}  // namespace cairn::graph::io
