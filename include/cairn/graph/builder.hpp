// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/graph/labels.hpp>

namespace cairn::graph {

/// How vertices are distributed to ranks. Each rank owns one block of consecutive vertices.
///
/// vertices   blocks of equal size; the owner is found by one multiplication
/// edges      blocks with about equal sums of vertices and edges (before duplicates and self-loops
///            are dropped); the owner is found in O(log ranks). The build takes 8 more bytes a
///            vertex on every rank.
enum class partition_kind : std::uint8_t { vertices, edges };

/// symmetrize       the graph is undirected: each edge counts in both directions
/// drop_self_loops  drops edges from a vertex to itself
/// drop_duplicates  keeps one of the edges with equal source and target: the one of least weight
/// keep_weights     false: the graph has no weights, even if the input has
/// inverse          a directed graph gets in-rows in addition to out-rows
/// partition        which vertices each rank owns
/// progress         called repeatedly by worker 0 as progress(done, all) for this rank's share
struct build_options {
  bool symmetrize = false;
  bool drop_self_loops = false;
  bool drop_duplicates = false;
  bool keep_weights = true;
  bool inverse = false;
  partition_kind partition = partition_kind::vertices;
  std::function<void(std::uint64_t, std::uint64_t)> progress = {};
};

/// The graph of all ranks' edges, distributed in blocks of vertices (see partition_kind). Each
/// adjacency list is sorted by target and then by weight.
///
/// With several ranks every edge is first sent to the owner of its source. Then each rank
/// distributes its arcs to buckets of rows and sorts each bucket in cache. A single rank reads the
/// arcs directly from the blocks. The whole graph does not depend on the numbers of workers and
/// ranks.
///
/// edges     ids are vertices below names.size(), of width Id (graph::relabel ensures both); each
///           block is freed after it is read
/// names     the same on every rank
/// Work      O(edges log(vertices) / 11) for a rank's edges
/// Messages  with several ranks, one per arc and direction built: source, target, weight
/// Memory    per rank, beyond edges and result: 2 bytes an arc, and duplicates until they are
///           dropped; with several ranks, the received arcs (8 bytes each for 32-bit ids)
/// Throws    usage_error if there is not enough memory (see memory.hpp)
/// Collective.
template <class Id>
[[nodiscard]] dist_csr<Id> build(world& w, io::raw_edges edges, labels names,
                                 const build_options& options = {});

/// build() with the id width that the number of vertices requires.
[[nodiscard]] any_graph build_any(world& w, io::raw_edges edges, labels names,
                                  const build_options& options = {});

/// Adds in-rows to a directed graph that has none. Collective.
template <class Id>
void build_inverse(world& w, dist_csr<Id>& g);

extern template dist_csr<std::uint32_t> build(world&, io::raw_edges, labels, const build_options&);
extern template dist_csr<std::uint64_t> build(world&, io::raw_edges, labels, const build_options&);
extern template void build_inverse(world&, dist_csr<std::uint32_t>&);
extern template void build_inverse(world&, dist_csr<std::uint64_t>&);

}  // namespace cairn::graph
