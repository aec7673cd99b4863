// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/ran.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/algo/terminals.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo {

struct maxflow_options {
  activity::options activity = {};  ///< of the pushes
};

/// Net flow from source to target, over all parallel edges.
template <class Id>
struct flow_arc {
  Id source, target;
  std::int64_t amount;  ///< positive

  friend bool operator==(const flow_arc&, const flow_arc&) = default;
};

template <class Id>
struct maxflow_result {
  std::int64_t value;                           ///< of the flow and of the cut
  std::vector<flow_arc<Id>> flow;               ///< arcs whose source this rank owns, ascending
  pgas::vertex_map<std::uint32_t> source_side;  ///< 1 on s's side of a minimum cut, 0 on t's
  std::uint64_t pulses;                         ///< rounds of pushes
  std::uint64_t searches;                       ///< number of global relabellings
  activity::ran ran;

  static constexpr auto fields() {
    using r = maxflow_result;
    return std::tuple(
        field{"source_side", &r::source_side, "1 on the source's side of a minimum cut, else 0"},
        field{"value", &r::value, "value of the flow and of the cut"},
        field{"pulses", &r::pulses, "rounds of pushes"},
        field{"searches", &r::searches, "number of global relabellings"},
        field{"ran", &r::ran, "mechanism of the pushes"});
  }
};

/// A maximum flow from source s to sink t and a minimum cut.
///
/// Push-relabel in pulses. A label is a lower bound on the distance to t in the residual graph, or
/// n plus a lower bound on the distance to s. A vertex with excess plans pushes along residual
/// edges to neighbors whose label, as far as it knows, is one lower; if there are none, it is
/// relabelled. Then the pushes run. A push is one activity on the neighbor's excess and on the
/// edge's residual capacity there; it fails if the neighbor's label is not one lower. Its answer
/// carries the neighbor's label and commits or undoes the push at the sender. The known labels of
/// neighbors may be too low, which keeps the labelling valid and only causes refused pushes. When
/// relabelling and pulses have cost as much as a pass over the edges and the epochs of the last
/// searches, searches from t and from s make all labels exact (global relabelling).
///
/// Capacities are the edge weights, integers from 0 to 2^31 - 1, or 1 each if there are none.
/// Capacities of parallel edges add up, in 64 bits. An undirected edge has its capacity in both
/// directions.
///
/// Returns     value and pulses on all ranks. The value is determined; flow and cut need not be
///             (the cut is the one closest to t)
/// Work        O(n^2 m) at worst
/// Depth       per pulse an epoch and two reductions; per global relabelling an epoch for each
///             level of its two searches, and one for the labels
/// Messages    between ranks, two per push; up to two per edge at the start; a visit and a label
///             per edge and search
/// Memory      per rank: 56 bytes per neighbor of its vertices, 53 per vertex; for a directed
///             graph 48 per edge more at the start
/// Throws      contract_violation unless s and t are different vertices and weights are 32-bit
///             integers; input_error for a negative weight; usage_error as activity::domain
/// Collective  same arguments on every rank
/// Source      [Goldberg88]; searches and stale labels of remote neighbors are common practice;
///             pushes that may fail are [AAM15] section 3.2.2
template <class Id>
[[nodiscard]] maxflow_result<Id> maxflow(world& w, const graph::dist_csr<Id>& g,
                                         const terminals<std::type_identity_t<Id>>& ends,
                                         const maxflow_options& opt = {});

/// Verifies a maximum flow. Returns nothing, or a violation as one sentence with input ids.
///
///   rule 1  each flow is positive, at most the capacity, and listed once per pair of vertices
///   rule 2  inflow equals outflow except at s and t, where they differ by `value`
///   rule 3  the cut has s on its source side and t on the other, and a capacity of `value`
///
/// By the max-flow min-cut theorem these rules are sufficient.
///
/// g, ends     as for maxflow(); not checked
/// flow        any contents, also source_side
/// Returns     the same on every rank; of several violations that of the lowest rank
/// Work        O(n + m + f log d), for f arcs of flow and a largest degree d
/// Messages    one per arc of flow to another rank, and one gather of source_side (4 bytes per
///             vertex)
/// Memory      per rank: 4 bytes per vertex of the graph, 8 per own vertex
/// Collective  all ranks
template <class Id>
[[nodiscard]] std::optional<std::string> verify_maxflow(
    world& w, const graph::dist_csr<Id>& g, const terminals<std::type_identity_t<Id>>& ends,
    std::int64_t value, std::span<const flow_arc<Id>> flow,
    const pgas::vertex_map<std::uint32_t>& source_side);

extern template maxflow_result<std::uint32_t> maxflow(world&, const graph::dist_csr<std::uint32_t>&,
                                                      const terminals<std::uint32_t>&,
                                                      const maxflow_options&);
extern template maxflow_result<std::uint64_t> maxflow(world&, const graph::dist_csr<std::uint64_t>&,
                                                      const terminals<std::uint64_t>&,
                                                      const maxflow_options&);

}  // namespace cairn::algo
