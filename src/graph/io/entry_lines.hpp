// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::io {

/// Which entries of an undirected graph are written, by vertices.
enum class sides : std::uint8_t { both, upper, lower };

/// How an entry becomes a line: prefix, source, target, weight.
struct line_style {
  sides which = sides::both;
  std::string_view prefix = {};
  char separator = ' ';
  bool weights = true;  ///< written if the graph has them
};

/// Ends the writing of a file when the world of these workers is cancelled.
[[nodiscard]] inline write_check check_of(task::pool& workers) {
  return [&workers] { workers.throw_if_interrupted(); };
}

// Both write in parallel, in the order of rows.

/// Writes a line for each entry.
void write_entry_lines(task::pool& workers, byte_sink& file, const native_graph& g,
                       const line_style& style);

/// Writes a line for each vertex: its targets as ids, each followed by its weight if there are any.
void write_list_lines(task::pool& workers, byte_sink& file, const native_graph& g);

}  // namespace cairn::graph::io
