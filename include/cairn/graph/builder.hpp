// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/graph/labels.hpp>

namespace cairn::graph {

/// How vertices are dealt to ranks, always in consecutive blocks.
///
/// vertices   blocks of equal size: an owner is found by one multiplication
/// edges      blocks whose vertices and edges (as given, before duplicates and self-loops go) are
///            together about equal in number: an owner is found in O(log ranks). Building takes
///            8 bytes a vertex more on every rank meanwhile.
enum class partition_kind : std::uint8_t { vertices, edges };

/// symmetrize       the graph is undirected: each edge counts both ways
/// drop_self_loops  edges from a vertex to itself go
/// drop_duplicates  of edges with the same source and target one stays: that of least weight
/// keep_weights     false: the graph has no weights, whatever the input has
/// inverse          a directed graph gets in-rows as well as out-rows
/// partition        which vertices each rank owns
/// progress         called now and then by worker 0 as progress(done, all), of this rank's share
struct build_options {
  bool symmetrize = false;
  bool drop_self_loops = false;
  bool drop_duplicates = false;
  bool keep_weights = true;
  bool inverse = false;
  partition_kind partition = partition_kind::vertices;
  std::function<void(std::uint64_t, std::uint64_t)> progress = {};
};

/// The graph of the edges that the ranks hold together, dealt to the ranks by blocks of
/// vertices (see partition_kind), each adjacency list sorted by target and then by weight.
///
/// With peers, every edge is first sent to the owner of its source. Then each rank deals its
/// arcs to buckets of rows and sorts those in cache; alone, it does so straight from the
/// blocks. The result does not depend on the number of workers, nor, put together, of ranks.
///
/// edges     ids are vertices, below names.size(), of width Id (graph::relabel sees to both);
///           taken over: blocks are freed as they are read
/// names     the same on every rank
/// Work      O(edges log(vertices) / 11) a rank's share
/// Messages  with peers, one per arc and direction built: source, target, weight
/// Memory    per rank, beyond edges and result: 2 bytes an arc, and dropped duplicates until
///           they go; with peers, the arcs that came (8 bytes each for 32-bit ids)
/// Throws    usage_error if the memory for it is not there (see memory.hpp)
/// Collective.
template <class Id>
[[nodiscard]] dist_csr<Id> build(world& w, io::raw_edges edges, labels names,
                                 const build_options& options = {});

/// The same with the id width that the number of vertices asks for.
[[nodiscard]] any_graph build_any(world& w, io::raw_edges edges, labels names,
                                  const build_options& options = {});

/// Gives a directed graph in-rows, from its out-rows, if it has none. Collective.
template <class Id>
void build_inverse(world& w, dist_csr<Id>& g);

extern template dist_csr<std::uint32_t> build(world&, io::raw_edges, labels, const build_options&);
extern template dist_csr<std::uint64_t> build(world&, io::raw_edges, labels, const build_options&);
extern template void build_inverse(world&, dist_csr<std::uint32_t>&);
extern template void build_inverse(world&, dist_csr<std::uint64_t>&);

}  // namespace cairn::graph
