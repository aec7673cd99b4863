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
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/push.hpp>
#include <cairn/traverse/worklist.hpp>

#include "algo/frequent_value.hpp"
#include "algo/pointer_jumping.hpp"
#include "algo/recent_pairs.hpp"
#include "algo/sort.hpp"

namespace cairn::algo {

/// Joins the trees of all ranks. A map has the parent of each vertex, which is smaller; at first it
/// is the root of a tree of its own rank.
///
/// Trees are joined as by join() in disjoint_sets.hpp. A join whose next vertex belongs to another
/// rank continues there as a message, without an answer. Only vertices that were roots at first get
/// parents on other ranks, and all parents on a vertex's own rank were roots at first. So once the
/// former roots are flattened, each vertex is at most two steps from its root.
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
    if (g_.has_in() && skipped == here) {
      flatten_roots(join_all(here, outside.size(), [&](std::size_t i) { return outside[i]; }));
    } else {
      const auto vertex = [&](std::size_t i) { return static_cast<Id>(parent_.first() + i); };
      flatten_roots(join_all(g_.has_in() ? skipped : no_vertex<Id>, num_own(), vertex));
    }
    traverse::for_each_own(w_, parent_, [&](worker_t, std::uint64_t v) {
      parent_.store(v, label_of(static_cast<Id>(v)));
    });
    return epochs_;
  }

 private:
  static constexpr std::size_t max_sampled = 1024;  // vertices of a rank's largest tree
  static constexpr double ns_of_vertex = 5;         // approximate; most vertices join no edges

  [[nodiscard]] std::size_t num_own() const { return parent_.local().size(); }

  // The root that v had when roots were last flattened.
  [[nodiscard]] Id label_of(Id v) const {
    if (!parent_.owns(v)) return v;
    const Id above = parent_.load(v);
    return parent_.owns(above) ? parent_.load(above) : above;
  }

  // The first vertex on the path from v that is a root or whose parent belongs to another rank.
  // Halves the path. Other vertices keep parents of this rank, so nobody replaces them meanwhile.
  [[nodiscard]] Id top(Id v) {
    for (;;) {
      const Id above = parent_.load(v);
      if (above == v || !parent_.owns(above)) return v;
      const Id next = parent_.load(above);
      if (next != above && parent_.owns(next)) parent_.store(v, next);
      v = above;
    }
  }

  // Joins the trees of v, a vertex of this rank, and u, or sends what is left of it.
  void join(worker_t k, auto& send, Id v, Id u) {
    for (;;) {
      v = top(v);
      if (parent_.owns(u)) u = top(u);  // parents of this rank are former roots
      Id above = parent_.load(v);
      if (v == u || above == u) return;
      if (u < above) {
        using ref = tm::cell_ref<Id, tm::atomic_access>;
        if (ref(parent_.local()[v - parent_.first()]).claim(above, u) != above) continue;
        if (above == v) return hooked_.add(k, v);
        std::swap(above, u);  // what is left: to join the former parent and the new one
      }
      v = u;
      u = above;
      if (parent_.owns(v)) continue;
      if (recent_[k].insert({v, u})) send(parent_.owner(v), {v, u});
      return;
    }
  }

  // Calls visit(worker, send, i) for i < n, which joins trees and returns the number of edges that
  // it has read. Returns the number of roots of all ranks that got parents.
  std::uint64_t join_along(std::size_t n, auto&& visit) {
    ++epochs_;
    return traverse::push_ranges(
        w_, connections_, n,
        [&](auto& send, worker_t k, std::size_t i, std::size_t last) {
          std::uint64_t edges = 0;
          for (; i < last; ++i) edges += visit(k, send, i);
          return edges;
        },
        traverse::chunk_of(w_, n, ns_of_vertex), traverse::closing_with_size(hooked_));
  }

  // Calls f(row) for the rows of v, which returns a number of edges. Returns the sum.
  std::uint64_t each_row(Id v, auto&& f) const {
    const std::uint64_t out = f(g_.out().neighbors(v));
    return g_.directed() && g_.has_in() ? out + f(g_.in().neighbors(v)) : out;
  }

  std::uint64_t join_sampled(Id largest) {
    const auto distance = std::bit_ceil(num_own() / max_sampled + 1);
    return join_along(num_own(), [&](worker_t k, auto& send, std::size_t i) -> std::uint64_t {
      const auto v = static_cast<Id>(parent_.first() + i);
      const bool outside = parent_.load(v) != largest;
      if (!outside && (i & (distance - 1)) != 0) return 0;
      const auto edges = each_row(v, [&](std::span<const Id> row) -> std::uint64_t {
        if (row.empty()) return 0;
        for (const Id u : {row.front(), row.back()}) {
          if (!parent_.owns(u)) join(k, send, v, u);
        }
        return 2;
      });
      if (outside && edges != 0) outside_.add(k, v);
      return edges;
    });
  }

  // vertex(i) for i < n are the vertices whose labels may not be `skipped`.
  std::uint64_t join_all(Id skipped, std::size_t n, auto&& vertex) {
    return join_along(n, [&](worker_t k, auto& send, std::size_t i) -> std::uint64_t {
      const Id v = vertex(i), label = label_of(v);
      if (label == skipped) return 0;
      return each_row(v, [&](std::span<const Id> row) {
        for (const Id u : row) {
          if (!parent_.owns(u) || label_of(u) != label) join(k, send, v, u);
        }
        return row.size();
      });
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
  task::per_worker<recent_pairs<Id>> recent_;  // connections that were sent
  traverse::worklist<Id> hooked_;              // roots that got parents
  traverse::worklist<Id> outside_;             // vertices with edges, outside the largest tree
  am::channel<connection> connections_;
  pointer_jumping<Id> paths_;
  std::vector<Id> former_roots_;
  std::uint64_t epochs_ = 0;
};

}  // namespace cairn::algo
