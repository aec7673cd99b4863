// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <cairn/graph/io/compressed.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/graph/io/output_file.hpp>
#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/graph/labels.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::io {

/// How an undirected edge is written in a format that cannot declare a graph undirected.
enum class undirected_edges : std::uint8_t {
  once,       ///< source <= target; the reader has to symmetrize
  both_ways,  ///< reads as a directed graph with the same rows (a loop occurs once)
};

/// Writes "u v" lines (.txt, .el), "u v weight" lines (.wel), or a CSV file (.csv) with the header
/// source,target or, if the graph has weights, source,target,weight. Ids are the input's; lines are
/// sorted by source and then target; the file is compressed if its name's ending says so. Real
/// weights are read back exactly.
///
/// Vertices without edges are not in the file (see num_isolated), so a reader assigns other vertex
/// numbers.
/// Throws    usage_error if the name has another ending, if a .wel file is requested for a graph
///           without weights, if there is no edge, or if the file cannot be written; system_failure
///           if writing fails
/// Called by worker 0 of one rank.
void write_edge_list(task::pool& workers, const std::string& path, const native_graph& g,
                     undirected_edges edges = undirected_edges::both_ways);

/// Throws    usage_error if the name is not that of an edge list, or if it ends in .wel and there
///           are no weights
void expect_edge_list_holds(const std::string& path, bool weights);

/// Writes some edges of a graph as write_edge_list does, line by line. There may be none.
class edge_list_writer {
 public:
  /// weights   those of the graph
  /// check     see output_file
  /// Throws    as expect_edge_list_holds, and usage_error if the file cannot be written
  edge_list_writer(const std::string& path, const labels& names, weight_kind weights,
                   const write_check& check = {});

  /// source, target   positions, see labels
  /// Throws           system_failure if the file cannot be written
  void append(std::uint64_t source, std::uint64_t target, double weight);
  /// Throws as append does. Without it the old file is unchanged.
  void finish();

 private:
  void put_id(std::uint64_t position);
  void flush();

  const labels names_;
  const weight_kind weights_;  // that are written
  const char separator_;
  std::unique_ptr<byte_sink> file_;
  std::string text_;
};

/// The number of vertices without any edge. Takes a byte a vertex.
/// Called by worker 0 of one rank.
[[nodiscard]] std::uint64_t num_isolated(task::pool& workers, const native_graph& g);

/// Writes a MatrixMarket file (.mtx), compressed if the name's ending says so: general if the graph
/// is directed, else symmetric with the entries below the diagonal; pattern, integer or real.
///
/// All vertices and their ids are read back, so the ids must be 1 .. n, in any order of vertices.
/// Throws    usage_error if the name has another ending, if the ids are not 1 .. n, if there is no
///           vertex, or if the file cannot be written; system_failure if writing fails
/// Called by worker 0 of one rank.
void write_matrix_market(task::pool& workers, const std::string& path, const native_graph& g);

}  // namespace cairn::graph::io
