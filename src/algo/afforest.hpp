// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/disjoint_sets.hpp"
#include "algo/frequent_value.hpp"

namespace cairn::algo {

/// Trees over this rank's vertices, joined along the edges whose endpoints this rank owns.
template <class Id>
class afforest {
 public:
  afforest(world& w, const graph::dist_csr<Id>& g, pgas::vertex_map<Id>& parent)
      : w_(w), g_(g), parent_(parent) {}

  /// Joins each vertex, at first a tree of its own, with two of its neighbors on this rank, and
  /// sets its parent to its root, the smallest vertex of its tree.
  void run_on_sample() {
    join_sampled();
    flatten_all();
  }

  /// On one rank: sets each vertex's parent to the smallest vertex of its component.
  ///
  /// Several workers join the sampled neighbors by plain stores. Concurrent joins may leave a tree
  /// unjoined. Each tree still lies within one component, and all edges of the trees that are not
  /// skipped are processed afterwards.
  void run() {
    const bool alone = w_.workers() == 1;
    run_on_sample();
    const Id skipped = g_.has_in() ? frequent_value<Id>(parent_.local()).value : no_vertex<Id>;
    const bool joined = alone ? join_remaining<tm::plain_access>(skipped, sampled)
                              : join_remaining<tm::atomic_access>(skipped, 0);
    if (joined) flatten_all();
  }

 private:
  static constexpr std::size_t sampled = 2;  // neighbors that every vertex joins first
  static constexpr std::size_t ahead = 16;   // prefetch distance, in vertices
  // Approximate time per vertex in a graph that fits the cache.
  static constexpr double ns_of_join = 10, ns_of_look = 2;

  // Calls f(worker, v, last) for ranges of this rank's vertices.
  template <class F>
  void each_range(double ns_of_vertex, F&& f) {
    traverse::for_own_ranges(w_, g_.out(), f, ns_of_vertex);
  }

  // Neighbors on this rank. Loops copy it: after each store to a tree, members of an object that
  // others can reach are reloaded.
  struct own_rows {
    graph::row_view<Id> rows;
    std::uint64_t first, num;
    bool whole;

    [[nodiscard]] bool is_own(Id u) const { return u - first < num; }
    // At most `sampled` neighbors. A binary search finds them unless they are at an end of the row.
    [[nodiscard, gnu::always_inline]] std::span<const Id> sample(std::uint64_t v) const {
      std::span<const Id> row = rows.neighbors(v);
      if (whole) return row.first(std::min(sampled, row.size()));
      std::size_t n = 0;
      if (!row.empty() && !is_own(row.front())) {
        if (is_own(row.back())) {
          while (n < std::min(sampled, row.size()) && is_own(row[row.size() - 1 - n])) ++n;
          return row.last(n);
        }
        row = row.subspan(num_below(row, first));
      }
      while (n < std::min(sampled, row.size()) && is_own(row[n])) ++n;
      return row.first(n);
    }
    // Without unpredictable branches.
    [[nodiscard]] static std::size_t num_below(std::span<const Id> row, std::uint64_t bound) {
      const Id* at = row.data();
      for (auto n = row.size(); n > 0;) {
        const auto half = (n + 1) / 2;
        at += at[half - 1] < bound ? half : 0;
        n -= half;
      }
      return static_cast<std::size_t>(at - row.data());
    }
  };

  void flatten_all() {
    each_range(ns_of_look, [&](worker_t, std::uint64_t v, std::uint64_t last) {
      flatten(trees<Id>(parent_), static_cast<Id>(v), last);
    });
  }

  // Counts an upper bound on the entries that join_sampled() reads; counts per row take time.
  [[gnu::noinline]] void count_sampled(worker_t k, std::uint64_t v, std::uint64_t last) {
    const auto offsets = g_.out().offsets();
    const auto first = g_.out().first();
    const auto entries = offsets[last - first] - offsets[v - first];
    w_.counters().add(k, obs::counter::edges, std::min(sampled * (last - v), entries));
  }

  void join_sampled() {
    const auto join_range = [&](worker_t k, std::uint64_t v, std::uint64_t last) {
      count_sampled(k, v, last);
      const trees<Id> t(parent_);
      const auto& out = g_.out();
      const own_rows own{out.rows(), out.first(), out.num_rows(), w_.size() == 1};
      for (; v < last; ++v) {
        if (v + ahead < last) own.rows.prefetch_row(v + ahead);
        const auto row = own.sample(v);
        if (!row.empty()) hook(t, static_cast<Id>(v), row.front());
        for (std::size_t i = 1; i < row.size(); ++i) {
          join<tm::plain_access>(t, static_cast<Id>(v), row[i]);
        }
      }
    };
    each_range(ns_of_join, join_range);
  }

  // Processes the edges of each vertex outside the skipped tree until one joins it to that tree.
  // The edges that are left lead to vertices of that tree, or to others, which process them.
  template <class Access>
  bool join_remaining(Id skipped, std::size_t joined_before) {
    task::per_worker<bool> joined(w_.workers());
    const bool inverse = g_.directed() && g_.has_in();
    const auto join_range = [&](worker_t k, std::uint64_t first, std::uint64_t last) {
      const trees<Id> t(parent_);
      const auto rows = g_.out().rows(), in_rows = inverse ? g_.in().rows() : rows;
      bool any = false;
      for (auto v = static_cast<Id>(first); v < last; ++v) {
        Id above = t.parent(v);
        const auto join_row = [&](std::span<const Id> row) {
          for (auto u = row.begin(); u != row.end() && above != skipped; ++u) {
            if (t.parent(*u) == above) continue;
            any |= join<Access>(t, v, *u);
            above = t.parent(v);
          }
        };
        if (above == skipped) continue;
        const auto row = rows.neighbors(v);
        join_row(row.subspan(std::min(joined_before, row.size())));
        if (inverse) join_row(in_rows.neighbors(v));
      }
      joined[k] |= any;
    };
    each_range(ns_of_look, join_range);
    return std::any_of(joined.begin(), joined.end(), [](const auto& j) { return j.value; });
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  pgas::vertex_map<Id>& parent_;
};

}  // namespace cairn::algo
