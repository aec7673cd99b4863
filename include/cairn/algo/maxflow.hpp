// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

struct maxflow_options {
  activity::options activity = {};  ///< of pushes
};

/// What flows from source to target, over all edges between them together.
template <class Id>
struct flow_arc {
  Id source, target;
  std::int64_t amount;  ///< positive

  friend bool operator==(const flow_arc&, const flow_arc&) = default;
};

template <class Id>
struct maxflow_result {
  std::int64_t value;                           ///< of the flow, and of the cut
  std::vector<flow_arc<Id>> flow;               ///< of this rank's sources, ascending
  pgas::vertex_map<std::uint32_t> source_side;  ///< 1 on s's side of a minimum cut, 0 on t's
  std::uint64_t pulses;                         ///< rounds of pushes
  std::uint64_t searches;                       ///< times that labels were made exact
  activity::ran ran;

  static constexpr auto fields() {
    using r = maxflow_result;
    return std::tuple(
        field{"source_side", &r::source_side, "1 on the source's side of a minimum cut, else 0"},
        field{"value", &r::value, "of the flow, and of the cut"},
        field{"pulses", &r::pulses, "rounds of pushes"},
        field{"searches", &r::searches, "times that labels were made exact"},
        field{"ran", &r::ran, "how the pushes ran"});
  }
};

/// A maximum flow from s to t and a minimum cut.
///
/// Push-relabel in pulses. A label is a lower bound on the distance to t in the residual graph, or
/// n more than that to s. A vertex with excess plans pushes along residual edges to neighbours
/// that it takes to be one lower, or, where there are none, lifts its label. Then the pushes run: a
/// push is one activity over the neighbour's excess and the edge's residual capacity there, and
/// fails if the neighbour is not one lower. Its answer, which carries the label, undoes or books
/// it at the spawner. Labels of neighbours are thus copies that may be too low, which keeps a
/// labelling valid and costs refused pushes at most. When lifts and pulses have cost a pass over
/// the edges, searches from t and from s make all labels exact.
///
/// Capacities are the edges' weights, 1 each if there are none; edges between the same vertices
/// add up, and an undirected edge carries its weight either way.
///
/// Returns   value and pulses at all ranks; the value is determined, flow and cut need not be (the
///           cut is the one nearest to t)
/// Work      O(n^2 m) at worst
/// Messages  over ranks, two per push; up to two per edge at the start, a visit and a label per
///           edge and search
/// Memory    per rank: 56 bytes per neighbour of an own vertex, 45 per own vertex; of a directed
///           graph 48 per edge more at the start
/// Throws    contract_violation unless s and t are two vertices and weights are whole numbers;
///           input_error for a negative one; usage_error as activity::domain
/// Collective: same arguments on every rank.
/// Source    [Goldberg88]; searches and stale labels over ranks are common practice, pushes that
///           may fail are [AAM15] section 3.2.2
template <class Id>
[[nodiscard]] maxflow_result<Id> maxflow(world& w, const graph::dist_csr<Id>& g, Id s, Id t,
                                         const maxflow_options& opt = {});

/// What is wrong with a maximum flow: nothing, or one sentence with the ids of the input.
///
///   rule 1  what flows is positive and no more than the capacity, once per pair of vertices
///   rule 2  what flows into a vertex flows out of it, but for s and t, by `value`
///   rule 3  the cut has s on its source side and t on the other, and a capacity of `value`
///
/// By the theorem of Ford and Fulkerson these say all: no flow exceeds a cut.
///
/// Returns   the same on every rank; of several violations the lowest rank's first
/// Memory    per rank: 4 bytes per vertex of the graph
/// Collective.
template <class Id>
[[nodiscard]] std::optional<std::string> verify_maxflow(
    world& w, const graph::dist_csr<Id>& g, Id s, Id t, std::int64_t value,
    std::span<const flow_arc<Id>> flow, const pgas::vertex_map<std::uint32_t>& source_side);

extern template maxflow_result<std::uint32_t> maxflow(world&, const graph::dist_csr<std::uint32_t>&,
                                                      std::uint32_t, std::uint32_t,
                                                      const maxflow_options&);
extern template maxflow_result<std::uint64_t> maxflow(world&, const graph::dist_csr<std::uint64_t>&,
                                                      std::uint64_t, std::uint64_t,
                                                      const maxflow_options&);

}  // namespace cairn::algo
