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

namespace cairn::algo {

/// What flows so far. A push changes what was received, at the receiver; its answer changes what
/// was sent, at the sender. These are different arrays, so that neither waits for the other.
///
/// Collective constructor.
template <class Id>
struct preflow {
  preflow(world& w, const graph::dist_csr<Id>& g)
      : r(w, g),
        gained(w, g.partition(), 0),
        received(w, r.offsets, 0),
        given(gained.local().size()),
        sent(r.arcs.size()) {}

  /// What may still flow along arcs[i].
  [[nodiscard]] std::int64_t room(std::uint64_t i) const {
    return r.arcs[i].there - sent[i] + std::as_const(received).local()[i];
  }
  /// Of own vertex v.
  [[nodiscard]] std::int64_t excess(Id v) const {
    return std::as_const(gained).local()[v - r.first] - given[v - r.first];
  }

  /// Own vertex v has sent so much along arcs[i]. One call an arc at a time.
  void book(Id v, std::uint64_t i, std::int64_t amount) {
    sent[i] += amount;
    std::atomic_ref(given[v - r.first]).fetch_add(amount, std::memory_order_relaxed);
  }

  /// Out of own vertices.
  [[nodiscard]] std::vector<flow_arc<Id>> arcs() const {
    std::vector<flow_arc<Id>> all;
    for (std::size_t v = 0; v < given.size(); ++v) {
      for (auto i = r.offsets[v]; i < r.offsets[v + 1]; ++i) {
        const auto amount = r.arcs[i].there - room(i);
        if (amount > 0) all.push_back({static_cast<Id>(r.first + v), r.arcs[i].target, amount});
      }
    }
    return all;
  }

  residual_graph<Id> r;
  pgas::vertex_map<std::int64_t> gained;  // by vertices, from pushes
  pgas::edge_map<std::int64_t> received;  // against the arc, by pushes
  std::vector<std::int64_t> given, sent;  // by vertices; along the arc
};

}  // namespace cairn::algo
