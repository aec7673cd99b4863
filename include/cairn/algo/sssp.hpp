// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
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

/// In which order edges are relaxed.
///
///   delta                by buckets of distances, in step: a bucket is an epoch of its light edges
///                        and one of its heavy edges
///   distributed_control  each worker by a queue of its own in buckets, all in one epoch
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
  bool predecessors = false;         ///< also say which vertex comes before each
};

/// The distance of a vertex that no path reaches.
template <class Distance>
inline constexpr Distance unreached = std::numeric_limits<Distance>::has_infinity
                                          ? std::numeric_limits<Distance>::infinity()
                                          : std::numeric_limits<Distance>::max();

template <class Distance>
struct sssp_result {
  pgas::vertex_map<Distance> distance;  ///< `unreached` where no path leads
  /// The vertex before it on a shortest path, the source its own; no_vertex: unreached.
  std::optional<pgas::vertex_map<std::uint64_t>> predecessor;
  std::string_view algorithm;
  double delta;                ///< width of a bucket; 0: there were none
  std::uint64_t buckets;       ///< those whose end all ranks waited for
  std::uint64_t relaxations;   ///< edges that were relaxed or looked along, each time counted
  std::uint64_t improvements;  ///< times that a distance was lowered
  activity::ran ran;

  static constexpr auto fields() {
    using r = sssp_result;
    return std::tuple(
        field{"distance", &r::distance, "length of a shortest path from the source", 0,
              value_kind::numbers, true},
        field{"predecessor", &r::predecessor, "the vertex before it on a shortest path", 0,
              value_kind::vertices, true},
        field{"algorithm", &r::algorithm, "in which order edges were relaxed"},
        field{"delta", &r::delta, "width of a bucket; 0: there were none"},
        field{"buckets", &r::buckets, "those whose end all ranks waited for"},
        field{"relaxations", &r::relaxations, "edges that were relaxed, each time counted"},
        field{"improvements", &r::improvements, "times that a distance was lowered"},
        field{"ran", &r::ran, "how distances were lowered"});
  }
};

/// Whole weights, or none, have whole distances: of 32 bits if these suffice and ids have 32 bits.
/// Real weights have real ones.
using sssp_found =
    std::variant<sssp_result<std::uint32_t>, sssp_result<std::uint64_t>, sssp_result<double>>;

/// What the searches of a graph use, made once.
struct edge_lengths {
  double longest;  ///< edge
  double delta;    ///< width of buckets that fits weights and degrees
};

/// Checks and samples the weights.
///
/// Work      O(m / P)
/// Throws    input_error that names an edge whose weight is negative or no number, on every rank
/// Collective.
/// Source    fitted to measured optima of fifteen graphs: src/algo/edge_lengths.cpp
template <class Id>
[[nodiscard]] edge_lengths measure_lengths(world& w, const graph::dist_csr<Id>& g);

/// The length of a shortest path from `source` to every vertex, along out-edges.
///
/// Each vertex holds the least distance known. An edge is relaxed by a message, which may lower the
/// distance of its target; a target that was lowered enters its worker's queue, and its edges are
/// relaxed when it is taken out, unless it was lowered again. The algorithms differ in the queue
/// and in what the ranks wait for. An edge counts 1 in a graph without weights. The sender keeps
/// back what cannot lower a distance any more, from what it has sent to that vertex before.
///
/// On one rank that has in-edges, distributed control limits the search to a radius once it is seen
/// to expand fast. Within it, an edge to beyond is left out. Then each vertex beyond it looks along
/// its in-edges once, and the search goes on without a limit.
///
/// On the only rank, 2 to 4 workers lower distances in a table each, by plain stores, unless a
/// mechanism or grain is asked for; the least of the tables is the distance.
///
/// source    a global vertex id
/// lengths   measure_lengths of this graph
/// layout    of this graph's edges; nullptr: as loaded
/// Returns   distances at their owners. They are determined: whole ones are exact, real ones are
///           the least of all sums along paths, each added from the source on in double precision.
///           Predecessors form a tree; which of several shortest paths it has is not determined
/// Work      useful: each edge of a reached vertex once. The rest depends on the order
/// Messages  at most one per relaxation to another rank; predecessors: one per edge
/// Depth     one epoch; delta: two and a reduction per bucket that is not empty
/// Memory    per rank: n/P distances, with a table per worker n for each; the entries of the
///           queues, 8 or 16 bytes each; in the worst case the queues hold an entry per improvement
/// Throws    contract_violation unless source < g.num_vertices(); input_error as measure_lengths;
///           usage_error unless 0 < delta < infinity
/// Collective: same arguments on every rank.
/// Source    [DC15] algorithms 1 and 2. Distances are lowered when a message arrives, not when its
///           entry is taken out, so that queues hold improvements alone. Work on request is ours.
template <class Id>
[[nodiscard]] sssp_found sssp(world& w, const graph::dist_csr<Id>& g, Id source,
                              const sssp_options& opt, const edge_lengths& lengths,
                              const length_layout<Id>* layout = nullptr);
template <class Id>
[[nodiscard]] sssp_found sssp(world& w, const graph::dist_csr<Id>& g, Id source,
                              const sssp_options& opt = {}) {
  return sssp(w, g, source, opt, measure_lengths(w, g));
}

/// One sentence if `distance` does not hold the distances from `source`; any contents are judged.
///
///   rule 1  the source has distance 0
///   rule 2  no edge leads to a vertex that is further than its source and the edge's weight
///   rule 3  the source leads to every vertex that has a distance along edges that are tight: whose
///           ends differ by their weight. With predecessors: along edges from these
///   rule 4  the source is its own predecessor, and vertices without a distance have none
///
/// By rule 2 no distance is too large, by rule 3 none is too small, also where edges of weight 0
/// form cycles. Tight edges between different distances need no search: the nearer end is judged
/// alike.
///
/// predecessor   to judge too; or nullptr
/// Returns   the same on every rank; of several violations that of the lowest rule and vertex
/// Work      O(n + m)
/// Messages  one per edge; one more per edge whose ends have the same distance
/// Memory    per rank: one byte per own vertex, and the vertices of a superstep
/// Collective.
/// Source    Graph500's rules for shortest paths; the search along tight edges is ours
template <class Id, class Distance>
[[nodiscard]] std::optional<std::string> verify_sssp(
    world& w, const graph::dist_csr<Id>& g, std::uint64_t source,
    const pgas::vertex_map<Distance>& distance,
    const pgas::vertex_map<std::uint64_t>* predecessor = nullptr);

}  // namespace cairn::algo
