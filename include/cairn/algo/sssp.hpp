// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/algo/length_layout.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// The order in which edges are relaxed.
///
///   delta                delta-stepping: by buckets of distances that all ranks process together,
///                        each in an epoch of its light edges and one of its heavy edges. Unless a
///                        width is given, several small buckets are processed as one
///   distributed_control  each worker by its own priority queue, all in one epoch
///   chaotic              in the order in which vertices are reached, all in one epoch
///   automatic            distributed_control
enum class sssp_method { automatic, delta, distributed_control, chaotic };
template <>
inline constexpr std::span<const std::string_view> enum_names<sssp_method> =
    words<"auto", "delta", "distributed-control", "chaotic">;

struct sssp_options {
  activity::options activity = {};  ///< of relaxations
  sssp_method algorithm = sssp_method::automatic;
  std::optional<double> delta = {};  ///< width of a bucket; chosen if not given
  bool predecessors = false;         ///< also return the predecessor of each vertex
};

/// The distance of a vertex that cannot be reached.
template <class Distance>
inline constexpr Distance unreached = std::numeric_limits<Distance>::has_infinity
                                          ? std::numeric_limits<Distance>::infinity()
                                          : std::numeric_limits<Distance>::max();

template <class Distance>
struct sssp_result {
  pgas::vertex_map<Distance> distance;  ///< `unreached` without a path from the source
  /// The preceding vertex on a shortest path. The source is its own predecessor; no_vertex:
  /// unreached.
  std::optional<pgas::vertex_map<std::uint64_t>> predecessor;
  std::string_view algorithm;
  double delta;                ///< width of a bucket; 0: there were no buckets
  std::uint64_t buckets;       ///< buckets, or groups of them, that all ranks processed together
  std::uint64_t relaxations;   ///< number of relaxations, pulled edges included
  std::uint64_t improvements;  ///< number of lowered distances that were to be extended
  std::uint64_t radii;         ///< radii of the first stage that has any; 0: no edge was skipped
  activity::ran ran;

  static constexpr auto fields() {
    using r = sssp_result;
    return std::tuple(
        field{"distance", &r::distance, "length of a shortest path from the source", 0,
              value_kind::numbers, true},
        field{"predecessor", &r::predecessor, "the preceding vertex on a shortest path", 0,
              value_kind::vertices, true},
        field{"algorithm", &r::algorithm, "the order in which edges were relaxed"},
        field{"delta", &r::delta, "width of a bucket; 0: there were no buckets"},
        field{"buckets", &r::buckets, "buckets, or groups, that all ranks processed together"},
        field{"relaxations", &r::relaxations, "number of relaxations"},
        field{"improvements", &r::improvements,
              "number of lowered distances that were to be extended"},
        field{"radii", &r::radii, "radii of the first stage; 0: no edge was skipped"},
        field{"ran", &r::ran, "how distances were lowered"});
  }
};

/// Distances are integers if the weights are integers or absent, with 32 bits if these suffice and
/// ids have 32 bits. They are doubles if the weights are doubles. On one rank searches use 64 bits
/// after one in the same graph that needed them (edge_lengths::learned).
using sssp_found =
    std::variant<sssp_result<std::uint32_t>, sssp_result<std::uint64_t>, sssp_result<double>>;

struct search_choices;  // src/algo/search_choices.hpp
class dead_ends;        // src/algo/dead_ends.hpp

/// What all searches in one graph use.
struct edge_lengths {
  double longest;  ///< the largest weight
  double delta;    ///< width of buckets that suits weights and degrees
  /// What later searches learn from earlier ones; nullptr: nothing, as on several ranks.
  std::shared_ptr<search_choices> learned = {};
  /// Vertices that a search need not expand; nullptr: too few to be worth looking up.
  std::shared_ptr<const dead_ends> ends = {};
};

/// Checks and samples the weights and looks for dead ends (see sssp), once for all searches of a
/// graph.
///
/// Work      O(m / P)
/// Memory    one bit per own vertex
/// Throws    input_error that names an edge whose weight is negative or NaN, or the heaviest edge
///           if a path of n - 1 such edges is longer than the largest double; on every rank
/// Collective.
/// Source    src/algo/edge_lengths.cpp: a formula fitted to the measured optima of fifteen graphs
template <class Id>
[[nodiscard]] edge_lengths measure_lengths(world& w, const graph::dist_csr<Id>& g);

/// The length of a shortest path from `source` to every vertex, along out-edges.
///
/// Each vertex holds the smallest distance found so far. A message relaxes an edge and may lower
/// the distance of its target. A target whose distance was lowered enters the queue of its worker.
/// When it leaves the queue, its edges are relaxed, unless its distance has been lowered again. The
/// algorithms differ in the queues and in what the ranks wait for. In a graph without weights each
/// edge has length 1. The sender drops a message if it has sent that vertex as small a distance
/// before.
///
/// A dead end is a vertex without out-edges or, in an undirected graph, with one edge. No shortest
/// path leads through it. If more than one vertex in 8 of a rank is a dead end, dead ends do not
/// enter that rank's queues; in an undirected graph only vertices with edges count.
///
/// On one rank, with a layout or in a large undirected graph, distributed control searches in
/// stages of growing radii if the search expands fast. A stage skips edges that lead beyond its
/// radius. After each stage, every vertex beyond the radius reads its light in-edges.
///
/// On one rank with 2 to 4 workers, each worker may lower distances in a table of its own by plain
/// stores, unless a mechanism or grain is requested. The distance of a vertex is the minimum over
/// the tables. Whether that, atomic instructions or one worker alone are fastest is learned from
/// the times of earlier searches in the graph (lengths.learned). Searches that learn nothing use
/// atomic instructions.
///
/// source    a global vertex id
/// lengths   the result of measure_lengths for this graph. On one rank a call updates
///           lengths.learned, which copies share, so calls with it must not overlap
/// layout    a layout of this graph's edges; nullptr: the edges as loaded
/// Returns   distances at their owners. They are determined: integers are exact; a double is the
///           minimum over all paths of the sum of weights, added from the source on. Predecessors
///           form a tree; its choice among several shortest paths is not determined
/// Work      each edge of a reached vertex once, with radii or dead ends fewer; further
///           relaxations depend on the order
/// Messages  at most one per relaxation to another rank; predecessors: one per edge
/// Depth     one epoch; delta: two epochs and a reduction per bucket that is not empty, or per
///           group of buckets
/// Memory    per rank: n/P distances, n for each table; 8 or 16 bytes per queue entry, at worst one
///           entry per improvement
/// Throws    contract_violation unless source < g.num_vertices(); input_error as measure_lengths;
///           usage_error unless delta is finite and above 1e-307
/// Collective: same arguments on every rank.
/// Source    [DC15] algorithms 1 and 2. Here a distance is lowered when a message arrives, not when
///           its entry leaves the queue, so queues contain only improvements. Sharing work on
///           request is ours.
template <class Id>
[[nodiscard]] sssp_found sssp(world& w, const graph::dist_csr<Id>& g, Id source,
                              const sssp_options& opt, const edge_lengths& lengths,
                              const length_layout<Id>* layout = nullptr);
template <class Id>
[[nodiscard]] sssp_found sssp(world& w, const graph::dist_csr<Id>& g, Id source,
                              const sssp_options& opt = {}) {
  auto lengths = measure_lengths(w, g);
  lengths.learned = nullptr;  // there is no later search
  return sssp(w, g, source, opt, lengths);
}

/// One sentence if `distance` does not contain the distances from `source`. `distance` may have any
/// contents.
///
/// An edge is tight if the distance of its target is the distance of its source plus its weight.
///
///   rule 1  the source has distance 0
///   rule 2  the distance of an edge's target is at most that of its source plus the edge's weight
///   rule 3  a path of tight edges leads from the source to every vertex that has a distance; if
///           predecessors are given, a path of edges from predecessors
///   rule 4  the source is its own predecessor; a vertex without a distance has no predecessor
///
/// By rule 2 no distance is too large. By rule 3 no distance is too small, also if edges of weight
/// 0 form cycles. Only edges of weight 0 need a search: any other tight edge comes from a vertex of
/// smaller distance, to which the same rules apply.
///
/// predecessor   predecessors to verify, or nullptr
/// Returns   the same on every rank; of several violations the first by rule, then by vertex
/// Work      O(n + m)
/// Messages  one per edge; one more per edge whose ends have the same distance
/// Memory    per rank: one byte per own vertex, and the vertices of a superstep
/// Collective.
/// Source    [Graph500], the rules for shortest paths; the search along tight edges is ours
template <class Id, class Distance>
[[nodiscard]] std::optional<std::string> verify_sssp(
    world& w, const graph::dist_csr<Id>& g, std::uint64_t source,
    const pgas::vertex_map<Distance>& distance,
    const pgas::vertex_map<std::uint64_t>* predecessor = nullptr);

}  // namespace cairn::algo
