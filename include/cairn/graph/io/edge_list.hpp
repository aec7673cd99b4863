// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <cairn/graph/io/native.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::io {

/// How often an undirected edge stands in a file that cannot say that it is undirected.
enum class undirected_edges : std::uint8_t {
  once,       ///< source <= target; who reads it has to symmetrize
  both_ways,  ///< and so the file is a directed graph with the same rows (a loop stands once)
};

/// Writes "u v" lines (.txt, .el) or "u v weight" lines (.wel) with the input's ids, by source
/// and then target, compressed if the name says so. Real weights read back exactly.
///
/// Vertices without edges are not in the file, so that a reader numbers the others closer.
/// Throws    usage_error if the name has another ending, if a .wel file is asked of a graph
///           without weights, or if the file cannot be written; system_failure if not written
/// Called by worker 0 of one rank.
void write_edge_list(task::pool& workers, const std::string& path, const native_graph& g,
                     undirected_edges edges = undirected_edges::both_ways);

/// Writes a MatrixMarket file (.mtx), compressed if the name says so: general if the graph is
/// directed, else symmetric with the entries below the diagonal; pattern, integer or real.
///
/// All vertices and their ids read back, and so these must be 1 .. n.
/// Throws    usage_error if the name has another ending, if ids are others, or if the file cannot
///           be written; system_failure if not written
/// Called by worker 0 of one rank.
void write_matrix_market(task::pool& workers, const std::string& path, const native_graph& g);

}  // namespace cairn::graph::io
