// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/edges.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/rows.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/climbing_join.hpp"
#include "algo/frequent_value.hpp"
#include "algo/pointer_jumping.hpp"
#include "algo/recent_pairs.hpp"
#include "algo/sort.hpp"

namespace cairn::algo {

/// Joins the trees of all ranks. A map has the parent of each vertex, which is smaller; at first it
/// is the root of a tree of its own rank.
///
/// A join whose next vertex belongs to another rank continues there as a message, without an
/// answer; each next owner is a lower rank. Only vertices that were roots at first get parents on
/// other ranks, and all parents on a vertex's own rank were roots at first. So once the former
/// roots are flattened, each vertex is at most two steps from its root.
///
/// As in afforest, sampled edges are joined first: those to other ranks at the ends of rows, of
/// each vertex outside the rank's largest tree and of some in it. Vertices of the component that is
/// then largest need not join their other edges if the vertices at the other ends know these edges,
/// too.
///
/// Collective  constructor, destructor, run()
template <class Id>
class rank_joining {
  struct connection {
    Id v, smaller;  // v belongs to the receiving rank
  };

 public:
  rank_joining(world& w, const graph::dist_csr<Id>& g, pgas::vertex_map<Id>& parent)
      : w_(w),
        g_(g),
        parent_(parent),
        edges_(g.has_in() ? traverse::edges_both_ways(g) : traverse::edges<Id>(g.out())),
        recent_(w.workers()),
        hooked_(w),
        outside_(w),
        connections_(
            w, [&parent](const connection& c) { return parent.owner(c.v); },
            [this](worker_t k, std::span<const connection> batch) {
              auto send = connections_.from(k);
              for (const auto& c : batch) join(k, send, c.v, c.smaller);
            },
            {.in_bulk = true}),
        paths_(w, parent) {}

  /// Sets each vertex's parent to the smallest vertex of its component. Returns the number of
  /// epochs.
  std::uint64_t run() {
    const auto largest = frequent_value<Id>(parent_.local());
    flatten_roots(join_sampled(largest.value));
    const Id here = label_of(largest.value);
    const Id skipped = most_frequent<Id>(w_, {here, largest.estimate});
    const auto outside = outside_.take();
    if (!g_.has_in()) {
      flatten_roots(join_all(no_vertex<Id>));
    } else if (skipped != here) {
      flatten_roots(join_all(skipped));
    } else {
      flatten_roots(join_all_of(outside, skipped));
    }
    traverse::for_each_own(w_, parent_, [&](worker_t, std::uint64_t v) {
      parent_.store(v, label_of(static_cast<Id>(v)));
    });
    return epochs_;
  }

 private:
  static constexpr std::size_t max_sampled = 1024;  // vertices of a rank's largest tree
  static constexpr std::size_t max_chunk = 64;      // rows: messages wait for the end of a chunk

  // After roots are flattened, the root of v; while trees are joined, a vertex above v.
  [[nodiscard]] Id label_of(Id v) const {
    if (!parent_.owns(v)) return v;
    const Id above = parent_.load(v);
    return parent_.owns(above) ? parent_.load(above) : above;
  }

  void join(worker_t k, auto& send, Id v, Id u) {
    join_in(
        parent_, v, u, [&](Id root) { hooked_.add(k, root); },
        [&](Id remote, Id smaller) {
          const connection c{remote, smaller};
          if (recent_[k].insert({c.v, c.smaller})) send(parent_.owner(c.v), c);
        });
  }

  // divide(f) calls f(worker, i, last) for ranges. Calls visit(worker, send, i) for their elements,
  // which joins trees and returns the number of edges that it has read. Returns the number of roots
  // of all ranks that got parents.
  std::uint64_t join_along(auto&& divide, auto&& visit) {
    ++epochs_;
    am::epoch epoch(w_);
    divide([&](worker_t k, std::uint64_t i, std::uint64_t last) {
      auto send = connections_.from(k);
      std::uint64_t edges = 0;
      for (; i < last; ++i) edges += visit(k, send, i);
      w_.counters().add(k, obs::counter::edges, edges);
    });
    return traverse::closing_with_size(hooked_)(epoch);
  }

  std::uint64_t join_sampled(Id largest) {
    const auto distance = std::bit_ceil(parent_.local().size() / max_sampled + 1);
    const auto divide = [&](auto&& f) { traverse::for_own_ranges(w_, parent_, f); };
    return join_along(divide, [&](worker_t k, auto& send, std::uint64_t id) -> std::uint64_t {
      const auto v = static_cast<Id>(id);
      const bool outside = parent_.load(v) != largest;
      if (!outside && (v & (distance - 1)) != 0) return 0;
      std::uint64_t looked_at = 0;
      edges_.each_row_of(v, [&](std::span<const Id> row) {
        if (row.empty()) return;
        for (const Id u : {row.front(), row.back()}) {
          if (!parent_.owns(u)) join(k, send, v, u);
        }
        looked_at += 2;
      });
      if (outside && looked_at != 0 && g_.has_in()) outside_.add(k, v);
      return looked_at;
    });
  }

  // Joins all edges of v, unless it has the skipped label.
  std::uint64_t join_rows(worker_t k, auto& send, Id v, Id skipped) {
    const Id label = label_of(v);
    if (label == skipped) return 0;
    edges_.each_neighbor(v, [&](Id u) {
      if (!parent_.owns(u) || label_of(u) != label) join(k, send, v, u);
    });
    return edges_.degree(v);
  }
  std::uint64_t join_all(Id skipped) {
    const auto divide = [&](auto&& f) { traverse::for_edge_ranges(w_, edges_, 1, f); };
    return join_along(divide, [&](worker_t k, auto& send, std::uint64_t v) {
      return join_rows(k, send, static_cast<Id>(v), skipped);
    });
  }
  std::uint64_t join_all_of(std::span<const Id> list, Id skipped) {
    const auto ns = traverse::ns_of_row(edges_.mean_degree(list));
    const auto chunk = traverse::chunk_of(w_, list.size(), ns);
    const auto divide = [&](auto&& f) {
      w_.parallel_for(list.size(), f, std::min(chunk, max_chunk));
    };
    return join_along(divide, [&](worker_t k, auto& send, std::uint64_t i) {
      return join_rows(k, send, list[i], skipped);
    });
  }

  // Points all former roots at the roots of their trees. Without new ones they do already.
  void flatten_roots(std::uint64_t num_hooked) {
    if (num_hooked == 0) return;
    append_interruptibly(w_, former_roots_, hooked_.take());
    epochs_ += paths_.flatten(former_roots_, [](Id) {});
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  pgas::vertex_map<Id>& parent_;
  const traverse::edges<Id> edges_;
  task::per_worker<recent_pairs<Id>> recent_;  // connections that were sent
  traverse::worklist<Id> hooked_;              // roots that got parents
  traverse::worklist<Id> outside_;             // vertices with edges, outside the largest tree
  am::channel<connection> connections_;
  pointer_jumping<Id> paths_;
  std::vector<Id> former_roots_;
  std::uint64_t epochs_ = 0;
};

}  // namespace cairn::algo
