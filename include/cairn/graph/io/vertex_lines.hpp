// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cairn/graph/labels.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::io {

/// Lines of vertices, such as a walk each: those of line i end before vertices[ends[i]].
struct vertex_lines {
  std::vector<std::uint64_t> ends, vertices;
};

/// Reads a file of ids, as `cairn walk --paths FILE` writes it: separated by commas in a .csv file,
/// by tabs in a .tsv file, else by a blank; at least one id in a line.
///
/// Throws     input_error with file and line
/// Called by worker 0, outside parallel loops.
[[nodiscard]] vertex_lines read_vertex_lines(task::pool& workers, const std::string& path,
                                             const labels& names);

/// The separator in a file of this name.
[[nodiscard]] char separator_of(const std::string& path);

}  // namespace cairn::graph::io
