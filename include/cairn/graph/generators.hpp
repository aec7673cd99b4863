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

/// Graph500: 2^scale vertices, edge_factor * 2^scale edges drawn, each by walking down `scale`
/// levels of quadrants with probabilities 0.57, 0.19, 0.19, 0.05 (to 2^-32).
struct kronecker_graph {
  int scale = 20;
  int edge_factor = 16;
};

/// 2^scale vertices, edge_factor * 2^scale edges drawn, both ends uniform.
struct uniform_graph {
  int scale = 20;
  int edge_factor = 16;
};

/// G(n, p): each pair of n vertices is an edge with probability p, independently.
struct erdos_renyi_graph {
  std::uint64_t num_vertices = 0;
  double probability = 0;
};

/// rows * columns vertices, each joined to those above, below, left and right of it.
struct grid_graph {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

/// relabel  vertices are renumbered by a random bijection (see bijection.hpp); else hubs come
///          first, and vertex (r, c) of a grid is r * columns + c
struct generator {
  std::variant<kronecker_graph, uniform_graph, erdos_renyi_graph, grid_graph> kind;
  std::uint64_t seed = 1;
  bool relabel = true;
};

/// Vertices, and edges (of G(n, p): expected) before duplicates and self-loops go.
/// Throws    usage_error if a parameter is out of range
[[nodiscard]] build_size size_of(const generator& g);

/// This rank's share of the edges; undirected, without self-loops; duplicates go in the build.
///
/// The ranks' shares together are the same for a seed whatever the number of ranks and
/// workers: edge (or stretch of pairs) i draws from a stream of its own.
///
/// progress  called now and then by worker 0 as progress(done, all), of this rank's share
/// Work      O(edges drawn / ranks), O(scale) each for Kronecker; nothing is communicated
/// Memory    8 bytes an edge, 16 from 2^32 - 1 vertices on
/// Throws    usage_error as size_of
/// Source    Graph500 specification 3; [Batagelj, Brandes 2005] (skips) for G(n, p)
[[nodiscard]] io::raw_edges generate(
    task::pool& workers, const generator& g, rank_t rank = 0, rank_t ranks = 1,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress = {});

}  // namespace cairn::graph
