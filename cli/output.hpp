// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cairn/algo/algorithm.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/graph/io/output_file.hpp>

namespace cairn::cli {

/// Ends the writing of a file if the world is interrupted. Called by worker 0.
[[nodiscard]] inline graph::io::write_check check_of(world& w) {
  return [&w] { w.throw_if_interrupted(); };
}

/// Throws    usage_error unless the file name has the ending of a table format
void check_output(const std::string& path);

/// Throws    usage_error unless the file name has an ending of a text format of rows
void check_paths_output(const std::string& path);

/// Whether two paths name one file. Files that do not exist yet are the same if their paths are.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

/// Called before long work.
///
/// input     the file to be read; empty: none
/// Throws    usage_error unless `path` is writable and is not the input
void check_writable(const std::string& path, const std::string& input = {});

/// Writes `id,value` for every vertex on rank 0, by ascending id. no_vertex is empty, and vertices
/// are written as the input's ids, also textual ones. If vertices are not in the order of ids, rank
/// 0 holds all values. Collective.
void write_column(world& w, const std::string& path, const graph::any_graph& g,
                  const algo::column& values);

/// Writes each row on rank 0, in order, as the input's ids without a header, separated by commas in
/// .csv, by tabs in .tsv and by spaces in .txt files. Collective.
void write_paths(world& w, const std::string& path, const graph::labels& names,
                 const algo::vertex_rows& rows);

/// Writes the edges on rank 0, as write_edge_list does, by ascending ids. Collective.
void write_forest(world& w, const std::string& path, const graph::any_graph& g,
                  const algo::forest_rows& rows);

}  // namespace cairn::cli
