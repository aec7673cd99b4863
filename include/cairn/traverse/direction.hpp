// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cairn::traverse {

/// How a superstep goes along edges.
///
///   push        each vertex of the frontier spawns an operator along its out-edges (top-down)
///   pull        each vertex that still wants a message looks for a sender among its in-edges
///               (bottom-up)
///   automatic   by superstep whichever costs less
enum class direction { automatic, push, pull };

/// What the choice is made from; all of the whole graph.
struct step_size {
  std::uint64_t vertices;        ///< of the graph
  std::uint64_t edges;           ///< of the graph, as rows hold them
  std::uint64_t frontier_edges;  ///< out-edges of the frontier, perhaps estimated
  std::uint64_t waiting;         ///< vertices with in-edges that still want a message
};

/// Whether pulling is expected to cost less than pushing.
///
/// A push looks at every edge of the frontier. A pull looks at the vertices that wait, each until
/// it has found a sender: with a share p of all edges starting in the frontier, after 1/p edges on
/// average, and never beyond its last. The frontier's bits are made too. [Beamer12] compares
/// against a fixed share of the edges instead, which ignores the mean degree.
[[nodiscard]] bool pull_is_cheaper(const step_size& s) noexcept;

}  // namespace cairn::traverse
