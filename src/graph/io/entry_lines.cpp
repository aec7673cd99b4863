// SPDX-License-Identifier: Apache-2.0
#include "entry_lines.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <type_traits>
#include <vector>

#include <cairn/task/parallel_for.hpp>

#include "put_weight.hpp"
#include "rows.hpp"

namespace cairn::graph::io {
namespace {

constexpr std::size_t max_id_digits = 20;
constexpr std::size_t line_ends_at_once = 1 << 16;

char* put_id(char* at, const native_graph& g, std::uint64_t v) {
  const auto id = g.label_of(v);
  if (g.words == nullptr) return std::to_chars(at, at + max_id_digits, id).ptr;
  const auto word = (*g.words)[id];
  return std::copy(word.begin(), word.end(), at);
}

/// The maximum number of bytes that the ids of entries [begin, end) take.
template <class Targets>
std::size_t id_bytes(const native_graph& g, Targets targets, std::uint64_t begin,
                     std::uint64_t end) {
  if (g.words == nullptr) return (end - begin) * 2 * max_id_digits;
  std::size_t bytes = 0;
  const auto size = [&](std::uint64_t v) { return (*g.words)[g.label_of(v)].size(); };
  for_entries(g, begin, end,
              [&](std::uint64_t row, std::uint64_t i) { bytes += size(row) + size(targets[i]); });
  return bytes;
}

/// Calls format(targets, weights, begin, end, text) for pieces of the entries in parallel and
/// writes the texts in order.
template <class Format>
void write_pieces(task::pool& workers, byte_sink& file, const native_graph& g, bool with_weights,
                  const Format& format) {
  const auto num_entries = g.offsets.back();
  std::vector<std::vector<char>> pieces(4 * static_cast<std::size_t>(workers.workers()));
  const decltype(g.weights) none;
  for (std::uint64_t done = 0; done < num_entries; done += pieces.size() * entries_per_piece) {
    task::parallel_for(
        workers, {.elements = pieces.size(), .chunk = 1},
        [&](worker_t, std::size_t i, std::size_t) {
          const auto begin = std::min(num_entries, done + i * entries_per_piece);
          const auto end = std::min(num_entries, begin + entries_per_piece);
          pieces[i].clear();
          if (begin == end) return;
          std::visit(
              [&](auto targets, auto weights) { format(targets, weights, begin, end, pieces[i]); },
              g.targets, with_weights ? g.weights : none);
        });
    for (const auto& piece : pieces) file.write({piece.data(), piece.size()});
  }
}

}  // namespace

void write_entry_lines(task::pool& workers, byte_sink& file, const native_graph& g,
                       const line_style& style) {
  const auto left_out = [&](std::uint64_t row, std::uint64_t target) {
    return (style.which == sides::upper && target < row) ||
           (style.which == sides::lower && target > row);
  };
  const auto max_other_bytes = style.prefix.size() + max_weight_bytes + 3;
  write_pieces(workers, file, g, style.weights,
               [&](auto targets, auto weights, std::uint64_t begin, std::uint64_t end,
                   std::vector<char>& text) {
                 text.resize(id_bytes(g, targets, begin, end) + (end - begin) * max_other_bytes);
                 char* at = text.data();
                 for_entries(g, begin, end, [&](std::uint64_t row, std::uint64_t i) {
                   if (left_out(row, targets[i])) return;
                   at = std::copy(style.prefix.begin(), style.prefix.end(), at);
                   at = put_id(at, g, row);
                   *at++ = style.separator;
                   at = put_id(at, g, targets[i]);
                   if constexpr (!std::is_same_v<decltype(weights), std::monostate>) {
                     *at++ = style.separator;
                     at = put_weight(at, weights[i]);
                   }
                   *at++ = '\n';
                 });
                 text.resize(static_cast<std::size_t>(at - text.data()));
               });
}

void write_list_lines(task::pool& workers, byte_sink& file, const native_graph& g) {
  // A piece ends the lines of the rows between its first entry and the entry before it.
  const auto open_row = [&](std::uint64_t begin) { return begin == 0 ? 0 : row_of(g, begin - 1); };
  write_pieces(workers, file, g, true,
               [&](auto targets, auto weights, std::uint64_t begin, std::uint64_t end,
                   std::vector<char>& text) {
                 auto line = open_row(begin);
                 text.resize((end - begin) * (max_id_digits + max_weight_bytes + 2) +
                             (row_of(g, end - 1) - line));
                 char* at = text.data();
                 for_entries(g, begin, end, [&](std::uint64_t row, std::uint64_t i) {
                   for (; line < row; ++line) *at++ = '\n';
                   if (i != g.offsets[row]) *at++ = ' ';
                   at = put_id(at, g, targets[i]);
                   if constexpr (!std::is_same_v<decltype(weights), std::monostate>) {
                     *at++ = ' ';
                     at = put_weight(at, weights[i]);
                   }
                 });
                 text.resize(static_cast<std::size_t>(at - text.data()));
               });
  const std::string line_ends(line_ends_at_once, '\n');
  for (auto left = g.num_vertices() - open_row(g.offsets.back()); left != 0;) {
    const auto some = std::min<std::uint64_t>(left, line_ends.size());
    file.write(std::string_view(line_ends).substr(0, some));
    left -= some;
  }
}

}  // namespace cairn::graph::io
