// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/algo/pull_layout.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/accumulation.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

/// Who moves rank along an edge.
///
///   pull   each vertex sums what the sources of its in-edges give it
///   push   each vertex adds to the targets of its out-edges ([AAM15] listing 3)
///   edge   the same, but the workers share out edges instead of vertices: a large row is cut
enum class pagerank_variant { pull, push, edge };
template <>
inline constexpr std::span<const std::string_view> words_of<pagerank_variant> =
    words<"pull", "push", "edge">;

/// What is meant by PageRank. The fixed point differs only where there are sinks (vertices
/// without out-edges); what else differs is when to stop.
///
///   gap            the rank of sinks is lost; stop when the ranks changed by less than
///                  `tolerance` (1e-4) in all, after at most 20 sweeps ([Beamer15])
///   graphalytics   the rank of sinks is spread over all vertices; a fixed number of sweeps (20)
///   networkx       the rank of sinks is spread over all vertices; stop when the ranks changed
///                  by less than n * `tolerance` (1e-6) in all, after at most 100 sweeps
enum class pagerank_convention { gap, graphalytics, networkx };
template <>
inline constexpr std::span<const std::string_view> words_of<pagerank_convention> =
    words<"gap", "graphalytics", "networkx">;

/// Whether a sweep reads only the previous one's ranks (Jacobi), or also those that it has
/// already made, which needs fewer sweeps (in place, as Gauss-Seidel). `automatic`: in place
/// for pull by GAP's convention, else Jacobi.
enum class pagerank_sweep { automatic, jacobi, in_place };
template <>
inline constexpr std::span<const std::string_view> words_of<pagerank_sweep> =
    words<"auto", "jacobi", "in-place">;

struct pagerank_options {
  pagerank_variant variant = pagerank_variant::pull;
  pagerank_convention convention = pagerank_convention::gap;
  pagerank_sweep sweep = pagerank_sweep::automatic;
  std::optional<std::uint64_t> iterations = {};  ///< at most; the convention's if not given
  std::optional<double> tolerance = {};          ///< likewise; graphalytics has none
  double damping = 0.85;
  /// push and edge: accumulate without conflicts; nothing: run an operator per edge instead, by
  /// the mechanism that `activity` asks for.
  std::optional<pgas::accumulator_options> aggregate = pgas::accumulator_options{};
  activity::options activity = {};
};

/// A convention and what was asked of it, in numbers.
struct pagerank_limits {
  bool spread_sinks;
  std::uint64_t most_sweeps;
  double enough;  ///< a sweep that changed less than this was the last
};
[[nodiscard]] pagerank_limits limits_of(const pagerank_options& opt, std::uint64_t num_vertices);

/// About how many sweeps a run will take: what is left to change shrinks at least by the damping
/// factor with each, in place usually by its fourth power.
[[nodiscard]] std::uint64_t expected_sweeps(const pagerank_options& opt,
                                            std::uint64_t num_vertices);

template <class Real>
struct pagerank_result {
  pgas::vertex_map<Real> rank;
  std::uint64_t iterations;
  double change;  ///< what the last sweep changed, summed over the vertices
  bool in_place;  ///< how it swept
  std::optional<pgas::accumulation> aggregate;  ///< how push and edge added up, if by sums
  activity::ran ran;                            ///< how they did by operators

  static constexpr auto fields() {
    using r = pagerank_result;
    return std::tuple(field{"rank", &r::rank, "sums to 1 where sinks are redistributed"},
                      field{"iterations", &r::iterations, "sweeps"},
                      field{"change", &r::change, "what the last sweep changed in all"},
                      field{"in_place", &r::in_place, "whether a sweep read what it had made"},
                      field{"ran", &r::ran, "how operators ran, if there were any"});
  }
};

/// PageRank: rank(v) = (1 - d) / n + d * (sum over edges u->v of rank(u) / out_degree(u)), and
/// where the convention says so d / n of the rank of all sinks, to a tolerance.
///
/// Starts at 1 / n everywhere. Each sweep first has every vertex say what it gives along each of
/// its out-edges, then adds that up along the edges. Pull reads the whole graph's contributions,
/// which are gathered on all ranks. Push and edge send them to the targets' owners, which
/// accumulate them: without conflicts in an accumulator_map, or by one operator per edge. A double
/// edge gives twice.
///
/// Real      float or double
/// layout    of g's in-edges, for pull: sweeps are faster; nullptr sweeps the rows as they are
/// Returns   ranks at their owners, which sum to 1 where sinks are redistributed. They are
///           within change * d / (1 - d) of the fixed point (sum of absolute differences), plus
///           what rounding adds.
/// Work      O(n + m) per sweep
/// Messages  per sweep: n values to each rank (pull), or one per edge to another rank
/// Memory    per rank: n/P ranks and degrees; n values (Jacobi: twice) for pull, n/P for push
///           and what its accumulator takes
/// Throws    contract_violation unless 0 <= damping < 1 and tolerance >= 0, for a directed graph
///           without in-edges if pulling, and for in-place sweeps of anything but pull by GAP's
///           convention;
///           usage_error for a mechanism that cannot run here
/// Collective: same options on every rank.
/// Source    [AAM15] section 3.3.1, listing 3; the conventions: [Beamer15], LDBC Graphalytics
///           and NetworkX.
template <class Real, class Id>
[[nodiscard]] pagerank_result<Real> pagerank(world& w, const graph::dist_csr<Id>& g,
                                             const pagerank_options& opt = {},
                                             const pull_layout<Id>* layout = nullptr);

extern template pagerank_result<float> pagerank<float>(world&,
                                                       const graph::dist_csr<std::uint32_t>&,
                                                       const pagerank_options&,
                                                       const pull_layout<std::uint32_t>*);
extern template pagerank_result<float> pagerank<float>(world&,
                                                       const graph::dist_csr<std::uint64_t>&,
                                                       const pagerank_options&,
                                                       const pull_layout<std::uint64_t>*);
extern template pagerank_result<double> pagerank<double>(world&,
                                                         const graph::dist_csr<std::uint32_t>&,
                                                         const pagerank_options&,
                                                         const pull_layout<std::uint32_t>*);
extern template pagerank_result<double> pagerank<double>(world&,
                                                         const graph::dist_csr<std::uint64_t>&,
                                                         const pagerank_options&,
                                                         const pull_layout<std::uint64_t>*);

}  // namespace cairn::algo
