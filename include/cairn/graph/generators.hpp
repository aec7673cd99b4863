// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <variant>

#include <cairn/base/types.hpp>
#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/graph/memory.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph {

/// Graph500: 2^scale vertices, edge_factor * 2^scale drawn edges. Each edge is drawn by descending
/// `scale` levels of quadrants with probabilities 0.57, 0.19, 0.19, 0.05 (to 2^-32).
struct kronecker_graph {
  int scale = 20;
  int edge_factor = 16;
};

/// 2^scale vertices, edge_factor * 2^scale drawn edges with uniformly random endpoints.
struct uniform_graph {
  int scale = 20;
  int edge_factor = 16;
};

/// G(n, p): each pair of n vertices is an edge with probability p, independently.
struct erdos_renyi_graph {
  std::uint64_t num_vertices = 0;
  double probability = 0;
};

/// rows * columns vertices; each is adjacent to those above, below, left and right of it.
struct grid_graph {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

/// relabel  vertices are renumbered by a random bijection (see bijection.hpp). Otherwise hubs have
///          small ids, and vertex (r, c) of a grid is r * columns + c
struct generator {
  std::variant<kronecker_graph, uniform_graph, erdos_renyi_graph, grid_graph> kind;
  std::uint64_t seed = 1;
  bool relabel = true;
};

/// The numbers of vertices and of edges before duplicates and self-loops are dropped (for G(n, p)
/// the expected number).
/// Throws    usage_error if a parameter is out of range
[[nodiscard]] build_size size_of(const generator& g);

/// The share of `rank` among the ranks 0 .. ranks - 1.
struct rank_share {
  rank_t rank = 0, ranks = 1;
};

/// This rank's share of the edges: undirected, without self-loops. The build drops duplicates.
///
/// For a given seed the union of the shares does not depend on the numbers of ranks and workers:
/// each edge (for G(n, p) each range of pairs) has its own random stream.
///
/// progress  called repeatedly by worker 0 as progress(done, all) for this rank's share
/// Work      O(drawn edges / ranks), times O(scale) for Kronecker; no communication
/// Memory    8 bytes an edge; 16 from 2^32 - 1 vertices on
/// Throws    usage_error as size_of does
/// Source    Graph500 specification 3; [Batagelj05] (skips) for G(n, p)
[[nodiscard]] io::raw_edges generate(
    task::pool& workers, const generator& g, const rank_share& mine = {},
    const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});

}  // namespace cairn::graph
