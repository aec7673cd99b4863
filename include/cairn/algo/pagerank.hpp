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

/// How contributions are applied along the edges.
///
///   pull   each vertex sums the contributions of the sources of its in-edges
///   push   each vertex adds to the targets of its out-edges ([AAM15] listing 3)
///   edge   as push, but the work is divided by edges instead of vertices: large rows are split
enum class pagerank_variant { pull, push, edge };
template <>
inline constexpr std::span<const std::string_view> enum_names<pagerank_variant> =
    words<"pull", "push", "edge">;

/// The definition of PageRank. The fixed points differ only if there are sinks (vertices without
/// out-edges); the conventions also differ in the stopping rule.
///
///   gap            the rank of sinks is lost; stops when the total change is below `tolerance`
///                  (1e-4), after at most 20 sweeps ([Beamer15])
///   graphalytics   the rank of sinks is distributed over all vertices; always 20 sweeps
///   networkx       the rank of sinks is distributed over all vertices; stops when the total change
///                  is below n * `tolerance` (1e-6), after at most 100 sweeps
enum class pagerank_convention { gap, graphalytics, networkx };
template <>
inline constexpr std::span<const std::string_view> enum_names<pagerank_convention> =
    words<"gap", "graphalytics", "networkx">;

/// Whether a sweep reads only the ranks of the previous sweep (jacobi), or also those already
/// updated in this sweep, which needs fewer sweeps (in_place, as Gauss-Seidel). `automatic`:
/// in_place for pull with the GAP convention, else jacobi.
enum class pagerank_sweep { automatic, jacobi, in_place };
template <>
inline constexpr std::span<const std::string_view> enum_names<pagerank_sweep> =
    words<"auto", "jacobi", "in-place">;

struct pagerank_options {
  pagerank_variant variant = pagerank_variant::pull;
  pagerank_convention convention = pagerank_convention::gap;
  pagerank_sweep sweep = pagerank_sweep::automatic;
  std::optional<std::uint64_t> iterations = {};  ///< maximum; default by convention
  std::optional<double> tolerance = {};          ///< default by convention; graphalytics has none
  double damping = 0.85;
  /// push and edge: accumulate without conflicts. nullopt: run an operator per edge instead, by the
  /// mechanism in `activity`.
  std::optional<pgas::accumulator_options> aggregate = pgas::accumulator_options{};
  activity::options activity = {};
};

/// The limits of a convention, after applying the options.
struct pagerank_limits {
  bool spread_sinks;
  std::uint64_t max_sweeps;
  double tolerance;  ///< stop when the total change is below this
};
[[nodiscard]] pagerank_limits limits_of(const pagerank_options& opt, std::uint64_t num_vertices);

/// Estimated number of sweeps of a run. The change shrinks by at least the damping factor per
/// sweep; in place usually by its fourth power.
[[nodiscard]] std::uint64_t expected_sweeps(const pagerank_options& opt,
                                            std::uint64_t num_vertices);

template <class Real>
struct pagerank_result {
  pgas::vertex_map<Real> rank;
  std::uint64_t iterations;
  double change;  ///< total change of the last sweep, over all vertices; 0 if the ranks are final
  bool in_place;  ///< whether the sweeps were in place
  std::uint64_t sweepers;                       ///< workers of this rank that ran the sweeps
  std::optional<pgas::accumulation> aggregate;  ///< storage of the sums of push and edge, if
                                                ///< accumulated
  activity::ran ran;                            ///< mechanism of push and edge, if by operators

  static constexpr auto fields() {
    using r = pagerank_result;
    return std::tuple(field{"rank", &r::rank, "sums to 1 if sinks are redistributed"},
                      field{"iterations", &r::iterations, "sweeps"},
                      field{"change", &r::change, "total change of the last sweep"},
                      field{"in_place", &r::in_place, "whether sweeps were in place"},
                      field{"sweepers", &r::sweepers, "workers that ran the sweeps, as chosen"},
                      field{"ran", &r::ran, "mechanism of the operators, if any"});
  }
};

/// PageRank: rank(v) = (1 - d) / n + d * (sum over edges u->v of rank(u) / out_degree(u)), plus d /
/// n of the rank of all sinks if the convention says so, to a tolerance.
///
/// All ranks start at 1 / n. In each sweep every vertex computes its contribution per out-edge, and
/// the contributions are summed along the edges. Pull reads the contributions of the whole graph,
/// which are gathered on all ranks. Push and edge send them to the targets' owners, which
/// accumulate them without conflicts in an accumulator_map, or by one operator per edge, in both
/// cases in double. Repeated edges contribute repeatedly.
///
/// Real        float or double
/// layout      of g's in-edges, which makes pull faster; nullptr: pull reads the rows of g
/// Returns     ranks at their owners; their sum is 1 if sinks are redistributed. The sum of
///             absolute differences from the fixed point is at most change * d / (1 - d), plus
///             rounding
/// Work        O(n + m) per sweep
/// Messages    per sweep: n values to each rank, or none if all run on one machine (pull), or one
///             per edge to another rank
/// Memory      per rank: n/P ranks and degrees; n values (Jacobi: twice) for pull, n/P for push,
///             and the accumulator; kept by the world for later runs. For pull on several ranks of
///             one machine 2 n values more for all of them, on several machines n per rank
/// Throws      contract_violation unless 0 <= damping < 1 and tolerance >= 0, for pull on a
///             directed graph without in-edges, and for in-place sweeps except pull with the GAP
///             convention; usage_error for a mechanism that cannot run here
/// Collective  same options on every rank
/// Source      [AAM15] section 3.3.1, listing 3; the conventions: [Beamer15], [Graphalytics] and
///             NetworkX
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
