// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/partition.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

struct walk_options {
  std::uint64_t walkers = 0;  ///< at most 2^63; 0 if the graph has no vertices
  std::uint64_t length = 40;  ///< steps of a walker, at most; less than 2^32
  std::uint64_t key = 1;      ///< key of the random draws
  double p = 1;               ///< the weight of the edge back is 1 / p; positive
  double q = 1;               ///< that of an edge away from the last vertex is 1 / q; see bias
  bool paths = false;         ///< also return the vertices of each walk

  /// Whether a step depends on the vertex before.
  [[nodiscard]] bool biased() const noexcept { return p != 1 || q != 1; }
};

/// The largest 1/q and q of walk_options: as many edges may be drawn for a step.
inline constexpr double most_walk_bias = 1'000;

/// The vertices of this rank's walkers, a row for each: those of numbers first, first + 1, ...
template <class Id>
struct walk_paths {
  pgas::partition_view walkers;  ///< which rank has the row of a walker
  std::uint64_t first = 0;
  std::size_t row_size = 0;  ///< length + 1
  std::vector<Id> vertices;  ///< row by row, each filled up with no_vertex
};

struct walk_totals {
  std::uint64_t steps = 0;        ///< of all walkers
  std::uint64_t ended_early = 0;  ///< walkers that took fewer steps than `length`

  bool operator==(const walk_totals&) const = default;
};

template <class Id>
struct walk_result {
  pgas::vertex_map<std::uint64_t> visits;  ///< times that a walker started or arrived
  std::uint64_t walkers, steps, ended_early, key;
  activity::ran ran;                      ///< `why` says that walkers are messages
  std::optional<walk_paths<Id>> paths{};  ///< if asked for

  static constexpr auto fields() {
    using r = walk_result;
    return std::tuple(
        field{"visits", &r::visits, "times that a walker started or arrived"},
        field{"walkers", &r::walkers, "number of walkers"},
        field{"steps", &r::steps, "steps of all walkers"},
        field{"ended_early", &r::ended_early, "walkers that stopped at a vertex without out-edges"},
        field{"key", &r::key, "key of the random draws, for `cairn verify`"},
        field{"ran", &r::ran, "how walkers travel"});
  }
};

/// How often random walkers visit each vertex, and their paths.
///
/// Walker i, for i in [0, walkers), draws from random64(key, i). Its start is vertex below(n). Each
/// step draws below(d) at a vertex with d out-edges and follows the edge at this place of the row,
/// which ascends by target. A repeated edge counts as often as it occurs; an undirected self-loop
/// is one edge. The walker stops after `length` steps or at a vertex without out-edges. So the
/// visits depend on the graph, its order of vertices and the options only.
///
/// Unless p and q are 1, a step from t to v is followed by one of the second order (node2vec). An
/// edge from v to x has the weight 1/p if x is t, else 1 if there is an edge from t to x, else 1/q.
/// Let m of the d edges lead back. If all do, the walker takes one without a draw. Else it draws
/// uniform() until it takes an edge: below m / (m + (d - m) p max(1, 1/q)) it goes back. Otherwise
/// it draws one of the d - m other edges by below(), and uniform() again; it takes the edge if this
/// is below min(1, q) with an edge from t to x, or below min(1, 1/q) without.
///
/// A walker is at the owner of its vertex. It is a message when it leaves the rank, and on its own
/// rank after many steps, so that other messages get their turn. A worker moves a group of walkers
/// together: it prefetches for all of them before it reads for the first, so their cache misses
/// overlap. A walker that must know whether t has an edge to x goes to the owner of t, and from
/// there to x, or back to v for another draw. The answer is needed for a share of 1 - min(q, 1/q)
/// of the edges drawn.
///
/// Returns     visits at their owners, all determined; their sum is walkers + steps. The path of a
///             walker is at the rank that `walkers` gives
/// Work        O(n + walkers + steps); of the second order per step O(log d), and at most max(q,
///             1/q) edges drawn in the mean
/// Depth       one epoch
/// Messages    one of 16 bytes (24 with ids of 64 bits) per step to another rank, and per walker
///             that starts on another rank than the one that draws it. Of the second order and
///             with paths 40 (48) bytes, and two for each edge that t is asked for; paths one of 16
///             bytes per vertex that another rank records
/// Memory      per rank: 8 bytes per vertex, and the messages in flight; for paths its share of
///             walkers * (length + 1) ids
/// Throws      contract_violation if an option is out of its range
/// Collective  same options on every rank
/// Source      [GMT14] graph random walk, where each step is a task's access to remote memory; here
///             walkers travel instead. [Grover16] p and q; [Yang19] drawing them by rejection
template <class Id>
[[nodiscard]] walk_result<Id> walk(world& w, const graph::dist_csr<Id>& g, const walk_options& opt);

/// One sentence if the visits, or the totals and paths where given, are not those of walk() with
/// the same options. Walks again, and sends a message for each step, also to the own rank; a walker
/// of the second order waits while its rank asks the owner of the vertex before.
///
/// visits      any contents
/// paths       of the shape that walk() gives
/// Returns     the same on every rank; of several wrong vertices the smallest
/// Work        that of walk()
/// Depth       one epoch
/// Messages    one per walker and one per step; of the second order also a question and an answer
///             per edge drawn; with paths one per vertex
/// Memory      per rank: 8 bytes per vertex, and the messages in flight
/// Throws      contract_violation as walk()
/// Collective  same options on every rank
template <class Id>
[[nodiscard]] std::optional<std::string> verify_walk(
    world& w, const graph::dist_csr<Id>& g, const walk_options& opt,
    const pgas::vertex_map<std::uint64_t>& visits,
    const std::optional<walk_totals>& totals = std::nullopt, const walk_paths<Id>* paths = nullptr);

struct checked_paths {
  std::optional<std::string> wrong;        ///< one sentence; the same on every rank
  pgas::vertex_map<std::uint64_t> visits;  ///< of all paths
};

/// Whether each path follows edges and, if it has fewer vertices than row_size, ends at a vertex
/// without out-edges; and the visits that the paths make.
///
/// paths       with any vertices, at least one in a row
/// Returns     of several wrong walks the first, numbered from 1
/// Messages    one per vertex of a path
/// Collective  same options on every rank
template <class Id>
[[nodiscard]] checked_paths verify_walk_paths(world& w, const graph::dist_csr<Id>& g,
                                              const walk_paths<Id>& paths);

/// Throws    contract_violation if an option is out of its range
void expect_walk_options(const walk_options& opt, std::uint64_t num_vertices);

}  // namespace cairn::algo
