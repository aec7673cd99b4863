// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cairn::traverse {

/// The direction of a superstep along edges.
///
///   push        each vertex of the frontier spawns an operator along its out-edges (top-down)
///   pull        each vertex that still wants a message searches its in-edges for a sender
///               (bottom-up)
///   automatic   the cheaper of the two, chosen in each superstep
enum class direction { automatic, push, pull };

/// Inputs of the choice, summed over the whole graph.
struct superstep_size {
  std::uint64_t vertices;        ///< of the graph
  std::uint64_t edges;           ///< entries of the graph's rows
  std::uint64_t frontier_edges;  ///< out-edges of the frontier, possibly estimated
  std::uint64_t waiting;         ///< vertices with in-edges that still want a message
};

/// Whether pulling is expected to cost less than pushing. False if no vertex waits: the superstep
/// then reaches nobody, and neither is needed.
///
/// A push visits every edge of the frontier. A pull visits the waiting vertices and searches the
/// in-edges of each until it finds a sender. If a share p of all edges starts in the frontier, the
/// search visits 1/p edges on average, at most the degree. A pull also creates the frontier's bits.
/// The rule of [Beamer12], a fixed share of the edges, ignores the mean degree.
[[nodiscard]] bool pull_is_cheaper(const superstep_size& s) noexcept;

}  // namespace cairn::traverse
