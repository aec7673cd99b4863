// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/algo/maxflow.hpp>
#include <cairn/pgas/edge_map.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include "algo/residual_graph.hpp"
#include "algo/sort.hpp"

namespace cairn::algo {

/// The current flow. A push changes the receiver's arrays; its answer changes the sender's. The
/// arrays are separate, so that neither waits for the other.
///
/// Collective  constructor
template <class Id>
struct preflow {
  preflow(world& w, const graph::dist_csr<Id>& g)
      : r(w, g),
        gained(w, g.partition(), 0),
        received(w, r.offsets, 0),
        given(gained.local().size()),
        sent(r.arcs.size()) {}

  /// Residual capacity of arcs[i].
  [[nodiscard]] std::int64_t room(std::uint64_t i) const {
    return r.arcs[i].capacity - sent[i] + std::as_const(received).local()[i];
  }
  /// Excess of vertex v of this rank.
  [[nodiscard]] std::int64_t excess(Id v) const {
    return std::as_const(gained).local()[v - r.first] - given[v - r.first];
  }

  /// Records that vertex v of this rank has sent `amount` along arcs[i]. One call per arc at a
  /// time.
  void record_push(Id v, std::uint64_t i, std::int64_t amount) {
    sent[i] += amount;
    std::atomic_ref(given[v - r.first]).fetch_add(amount, std::memory_order_relaxed);
  }

  /// Flow out of this rank's vertices.
  [[nodiscard]] std::vector<flow_arc<Id>> arcs(world& w) const {
    std::vector<flow_arc<Id>> all;
    in_pieces(w, r.arcs.size(), [&, v = std::size_t{0}](std::size_t i, std::size_t last) mutable {
      for (; i < last; ++i) {
        while (i >= r.offsets[v + 1]) ++v;
        const auto amount = r.arcs[i].capacity - room(i);
        if (amount > 0) all.push_back({static_cast<Id>(r.first + v), r.arcs[i].target, amount});
      }
    });
    return all;
  }

  residual_graph<Id> r;
  pgas::vertex_map<std::int64_t> gained;  // by vertex; changed by pushes
  pgas::edge_map<std::int64_t> received;  // by arc, from its target; changed by pushes
  std::vector<std::int64_t> given, sent;  // by vertex; by arc
};

}  // namespace cairn::algo
