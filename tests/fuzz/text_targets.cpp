// SPDX-License-Identifier: Apache-2.0
//
// Text formats. The parsers get memory of exactly the size that they may read, where
// AddressSanitizer sees one byte too many; then the whole reader reads the file in small blocks and
// in large ones, which must say the same.
#include <algorithm>
#include <optional>
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/graph/builder.hpp>
#include <cairn/graph/io/edge_lines.hpp>
#include <cairn/graph/io/mapped_file.hpp>
#include <cairn/graph/io/metis.hpp>
#include <cairn/graph/io/read_edges.hpp>
#include <cairn/graph/io/scan.hpp>
#include <cairn/graph/io/text_layout.hpp>
#include <cairn/graph/io/word_lines.hpp>
#include <cairn/graph/labels.hpp>

#include "fuzz.hpp"

namespace cairn::fuzz {
namespace {

using namespace graph::io;

constexpr std::uint64_t max_vertices_built = 10'000;
constexpr std::size_t small_block = 40;

/// Calls f on parts of the text in memory of its own, with what mapped_file promises behind it.
template <class F>
void parse_in_place(std::string_view text, F&& f) {
  const std::unique_ptr<char[]> memory(new char[text.size() + mapped_file::readable_behind]());
  std::copy(text.begin(), text.end(), memory.get());
  const std::string_view copy(memory.get(), text.size());
  try {
    f(copy);
  } catch (const text_fault& fault) {
    if (fault.at < copy.data() || fault.at > copy.data() + copy.size()) {
      fail("a fault lies outside the text: " + fault.problem);
    }
  }
}

void parse(std::string_view text, file_format format, bool text_ids) {
  parse_in_place(text, [&](std::string_view head) {
    static_cast<void>(parse_layout(head, false, format, text_ids));
  });
  std::optional<text_layout> layout;
  parse_in_place(
      text, [&](std::string_view head) { layout = parse_layout(head, true, format, text_ids); });
  if (!layout) return;
  text.remove_prefix(layout->data_offset);
  parse_scratch scratch;
  const bool edge_list = format == file_format::edge_list || format == file_format::csv ||
                         format == file_format::weighted_edge_list;
  for (const bool real : {false, true}) {
    if (edge_list) {
      const graph::labels names(64);
      parse_in_place(text, [&](std::string_view lines) {
        static_cast<void>(parse_vertex_pairs(lines, *layout, real, names));
      });
    }
    if (format == file_format::metis) {
      for (const list_reading reading :
           {list_reading{false, false}, {true, false}, {false, true}}) {
        parse_in_place(text, [&](std::string_view lines) {
          const auto parsed = parse_lists(lines, 0, *layout, reading, real, scratch);
          static_cast<void>(judge(parsed.counts, *layout, reading));
        });
      }
    } else if (text_ids) {
      dictionary known;
      parse_in_place(text, [&](std::string_view lines) {
        static_cast<void>(parse_word_lines(lines, *layout, real, known));
      });
    } else {
      parse_in_place(text, [&](std::string_view lines) {
        static_cast<void>(parse_edge_lines(lines, *layout, real, scratch));
      });
    }
  }
}

/// The edges as sorted lines, or the sentence of the refusal. A block of a skew-symmetric matrix
/// lists its entries first and then their opposites, so that the order depends on the blocks.
std::string read(const std::string& path, const read_options& options, bool build) {
  auto& w = small_world();
  std::string text;
  try {
    auto edges = read_edges(w, path, options);
    std::vector<std::string> lines;
    for (const auto& block : edges.blocks) {
      std::visit(
          [&](const auto& list, const auto& weights) {
            for (std::size_t i = 0; i < list.size(); ++i) {
              auto& line = lines.emplace_back(std::to_string(list[i].source) + ' ' +
                                              std::to_string(list[i].target));
              if constexpr (requires { weights[i]; }) line += ' ' + std::to_string(weights[i]);
            }
          },
          block.edges, block.weights);
    }
    std::sort(lines.begin(), lines.end());
    for (const auto& line : lines) (text += line) += '\n';
    if (!build) return text;
    const auto names = graph::relabel(w, edges);
    if (names.size() > max_vertices_built) return text;
    const auto g = graph::build_any(w, std::move(edges), names);
    std::visit(
        [&](const auto& rows) {
          for (std::uint64_t v = 0; v < rows.num_vertices(); ++v) {
            for (const auto u : rows.out().neighbors(v)) {
              if (u >= rows.num_vertices()) fail("an edge leads to no vertex");
            }
          }
        },
        g);
  } catch (const input_error& error) {
    const std::string sentence = error.what();
    if (sentence.find('\n') != std::string::npos) fail("several lines: " + sentence);
    return "refused: " + sentence;
  }
  return text;
}

void read_text(input contents, const std::string& name, id_kind ids = id_kind::number) {
  const std::string_view text(reinterpret_cast<const char*>(contents.data()), contents.size());
  const auto path = file_with(name, contents);
  parse(text, format_of(path), ids == id_kind::text);
  const auto small = read(path, {.block_bytes = small_block, .ids = ids}, true);
  const auto large = read(path, {.ids = ids}, false);
  // Words have other numbers in other blocks until all are known.
  if (small != large) fail("blocks differ: '" + small + "' and '" + large + "'");
}

}  // namespace

void read_edge_list(input contents) { read_text(contents, "g.el"); }
void read_weighted_edge_list(input contents) { read_text(contents, "g.wel"); }
void read_csv(input contents) { read_text(contents, "g.csv"); }
void read_words(input contents) {
  read_text(contents, "g.el", id_kind::text);
  read_text(contents, "g.csv", id_kind::text);
}
void read_matrix_market(input contents) { read_text(contents, "g.mtx"); }
void read_dimacs(input contents) { read_text(contents, "g.gr"); }
void read_metis(input contents) { read_text(contents, "g.graph"); }

void read_compressed(input contents) {
  constexpr std::size_t max_read = std::size_t{1} << 20, max_parsed = std::size_t{1} << 16;
  const auto path = file_with("compressed", contents);  // the bytes say how
  std::size_t size = 0;
  try {
    const mapped_file file(path);
    if (compression_of(file) == compression::none) return;
    const auto source = decompress(file);
    bytes buffer(1000);
    for (std::size_t n = buffer.size(); n == buffer.size() && size < max_read; size += n) {
      n = source->read({reinterpret_cast<char*>(buffer.data()), buffer.size()});
      if (n > buffer.size() || source->consumed() > contents.size()) fail("more than there is");
    }
  } catch (const input_error&) {
    return;
  }
  if (size > max_parsed) return;
  read_options options{.format = file_format::edge_list, .block_bytes = small_block};
  const auto small = read(path, options, true);
  options.block_bytes = max_parsed;
  const auto large = read(path, options, false);
  if (small != large) fail("blocks differ: '" + small + "' and '" + large + "'");
}

}  // namespace cairn::fuzz
