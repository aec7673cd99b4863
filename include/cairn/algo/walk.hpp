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
  std::uint64_t length = 40;  ///< maximum number of steps of a walker; less than 2^32
  std::uint64_t key = 1;      ///< key of the random draws
  double p = 1;               ///< return parameter of node2vec; positive
  double q = 1;               ///< in-out parameter of node2vec, from 1 / max_walk_bias to it
  bool paths = false;         ///< also return the vertices of each walk

  /// Whether a step depends on the previous vertex.
  [[nodiscard]] bool biased() const noexcept { return p != 1 || q != 1; }
};

/// The largest q and the largest 1/q. A step draws at most max(q, 1/q) edges on average.
inline constexpr double max_walk_bias = 1'000;

/// The vertices of this rank's walkers. Row i belongs to walker first + i.
template <class Id>
struct walk_paths {
  pgas::partition_view walkers;  ///< which rank has the row of a walker
  std::uint64_t first = 0;
  std::size_t row_size = 0;  ///< length + 1; less if no walk fills a row
  std::vector<Id> vertices;  ///< row by row, each padded with no_vertex
};

struct walk_totals {
  std::uint64_t steps = 0;        ///< of all walkers
  std::uint64_t ended_early = 0;  ///< walkers that took fewer steps than `length`

  bool operator==(const walk_totals&) const = default;
};

template <class Id>
struct walk_result {
  pgas::vertex_map<std::uint64_t> visits;  ///< number of times that a walker started or arrived
  std::uint64_t walkers, steps, ended_early, key;
  activity::ran ran;                      ///< `why` says that walkers are messages
  std::optional<walk_paths<Id>> paths{};  ///< present if requested

  static constexpr auto fields() {
    using r = walk_result;
    return std::tuple(
        field{"visits", &r::visits, "number of times that a walker started or arrived"},
        field{"walkers", &r::walkers, "number of walkers"},
        field{"steps", &r::steps, "steps of all walkers"},
        field{"ended_early", &r::ended_early, "walkers that stopped at a vertex without out-edges"},
        field{"key", &r::key, "key of the random draws, for `cairn verify`"},
        field{"ran", &r::ran, "how walkers travel"});
  }
};

/// The number of visits of random walkers to each vertex, and the walkers' paths.
///
/// Walker i, for i in [0, walkers), draws from random64(key).stream(i). It starts at vertex
/// below(n). At a vertex with d out-edges it draws below(d) and follows the edge at this position
/// of the row, whose targets ascend. A repeated edge counts as often as it occurs; an undirected
/// self-loop is one edge. The walker stops after `length` steps or at a vertex without out-edges.
/// The visits therefore depend only on the graph, the order of its vertices and the options.
///
/// Unless p and q are 1, all steps except the first are of second order (node2vec). After a step
/// from t to v, an edge from v to x has weight 1/p if x is t, else 1 if t has an edge to x, else
/// 1/q. The walker draws by rejection. Let m of the d edges lead back to t. If m = d, the walker
/// returns to t without a draw. Otherwise it repeats the following until it takes an edge. It draws
/// uniform() and returns to t if the number is below m / (m + (d - m) p max(1, 1/q)). Else it draws
/// one of the d - m other edges by below() and another uniform(). It takes the edge if this number
/// is below min(1, q) and t has an edge to x, or below min(1, 1/q) and t has none.
///
/// A walker is processed by the owner of its vertex. It is sent as a message when it leaves the
/// rank, and also after many steps on the same rank, so that other messages are handled. A worker
/// moves a group of walkers together: it prefetches for all of them before it reads for the first,
/// so their cache misses overlap. A walker that needs to know whether t has an edge to x moves to
/// the owner of t, and from there to x or back to v. This is necessary for a share 1 - min(q, 1/q)
/// of the drawn edges.
///
/// Returns     visits at their owners, all determined; their sum is walkers + steps. The path of a
///             walker is at the rank that `walkers` gives
/// Work        O(n + walkers + steps). A second-order step takes O(log d) per drawn edge and
///             draws at most max(q, 1/q) edges on average
/// Depth       one epoch
/// Messages    one of 16 bytes (24 with 64-bit ids) per step to another rank, and per walker that
///             starts on another rank than the one that draws it. With second-order steps or paths
///             40 (48) bytes, and up to two more per drawn edge whose weight t's owner determines.
///             With paths one of 16 bytes per vertex that another rank records
/// Memory      per rank: 8 bytes per own vertex and worker, and the messages in flight; for paths
///             its share of walkers * (length + 1) ids
/// Throws      contract_violation if an option is out of its range
/// Collective  same options on every rank
/// Source      [GMT14] graph random walk; there a step is a task's access to remote memory, here
///             walkers move between ranks. [Grover16] p and q; [Yang19] rejection sampling
template <class Id>
[[nodiscard]] walk_result<Id> walk(world& w, const graph::dist_csr<Id>& g, const walk_options& opt);

/// One sentence if the visits, or the given totals or paths, are not those of walk() with the same
/// options. Repeats the walks with a message for each step, also on the same rank. During a
/// second-order step the walker waits while its rank asks the owner of the previous vertex.
///
/// visits      any contents
/// paths       as walk() returns them, with any vertices
/// Returns     the same on every rank; of several wrong vertices the smallest
/// Work        that of walk()
/// Depth       one epoch
/// Messages    one per walker and one per step; for second-order steps also a question and its
///             answer per drawn edge; with paths one per vertex
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

/// Checks that each path follows edges and that a path with fewer vertices than row_size ends at a
/// vertex without out-edges. Also counts the visits of the paths.
///
/// paths       may contain any vertices, at least one per row
/// Returns     of several wrong walks the first, numbered from 1
/// Messages    one per vertex of a path
/// Collective  same options on every rank
template <class Id>
[[nodiscard]] checked_paths verify_walk_paths(world& w, const graph::dist_csr<Id>& g,
                                              const walk_paths<Id>& paths);

/// Throws    contract_violation if an option is out of its range
void expect_walk_options(const walk_options& opt, std::uint64_t num_vertices);

}  // namespace cairn::algo
