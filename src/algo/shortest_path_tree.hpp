// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <cairn/algo/sssp.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/first_own.hpp"
#include "algo/weights.hpp"

namespace cairn::algo {

/// Chooses predecessors of vertices whose distances are known.
///
/// An edge is tight if the distances of its ends differ by its weight. A vertex first takes any
/// tight edge from a vertex of smaller distance. The remaining vertices have only tight edges of
/// weight 0. A search along these edges, from the vertices that have predecessors, assigns
/// predecessors without cycles.
template <class Id, class Distance>
class shortest_path_tree {
  struct tight {  // an edge that is tight if its target has this distance
    Id to, from;
    Distance distance;
  };

 public:
  shortest_path_tree(world& w, const graph::dist_csr<Id>& g,
                     const pgas::vertex_map<Distance>& distance)
      : w_(w),
        g_(g),
        rows_(g.out()),
        distance_(distance),
        predecessor_(w, g.partition(), no_vertex<std::uint64_t>),
        found_(w),
        edges_(w, [this](worker_t k, std::span<const tight> batch) {
          for (const auto& m : batch) {
            if (m.distance == distance_.load(m.to)) take(k, m.to, m.from);
          }
        }) {}

  pgas::vertex_map<std::uint64_t> grow(Id source) {
    if (predecessor_.owns(source)) take(worker_t(0), source, source);
    traverse::push_own(w_, edges_, g_.out(), [&](Id v, auto& send) {
      return send_tight_edges(v, send, [](Distance from, Distance to) { return from < to; });
    });
    const auto lacks = [&](std::uint64_t v) {
      return distance_.load(v) != unreached<Distance> &&
             predecessor_.load(v) == no_vertex<std::uint64_t>;
    };
    const auto first = first_own(w_, predecessor_, lacks);
    if (!w_.any(first != no_vertex<std::uint64_t>)) return std::move(predecessor_);
    while (w_.any(!found_.empty())) {
      traverse::push_each(
          w_, edges_, found_.take(),
          [&](Id v, auto& send) {
            return send_tight_edges(v, send, [](Distance from, Distance to) { return from == to; });
          },
          traverse::mean_ns_of_row(g_.out()));
    }
    return std::move(predecessor_);
  }

 private:
  // Returns the number of visited edges.
  template <class Wanted>
  std::uint64_t send_tight_edges(Id v, auto& send, Wanted&& wanted) {
    const auto d = distance_.load(v);
    if (d == unreached<Distance>) return 0;
    rows_.each_edge(rows_.row_of(v), [&](Id u, weight_of<Distance> x) {
      // Beyond a dead end the sum may wrap. Then it is less than d, and the edge not tight.
      const auto bound = static_cast<Distance>(d + static_cast<Distance>(x));
      if (u != v && wanted(d, bound)) send(distance_.owner(u), {u, v, bound});
    });
    return rows_.degree(v);
  }

  void take(worker_t k, Id v, Id from) {
    const tm::cell_ref<std::uint64_t, tm::atomic_access> cell(predecessor_.at(v).element());
    constexpr auto none = no_vertex<std::uint64_t>;
    if (cell.claim(none, from) == none) found_.add(k, v);
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const traverse::weighted_rows<Id, weight_of<Distance>> rows_;
  const pgas::vertex_map<Distance>& distance_;
  pgas::vertex_map<std::uint64_t> predecessor_;
  traverse::worklist<Id> found_;  // vertices whose edges of weight 0 have not been followed
  am::channel<tight> edges_;
};

}  // namespace cairn::algo
