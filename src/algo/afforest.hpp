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
      : w_(w),
        g_(g),
        parent_(parent),
        first_(g.out().first()),
        last_(g.out().last()),
        whole_(w.size() == 1) {}

  /// Sets each vertex's parent to its root, the smallest vertex of its tree.
  ///
  /// Several workers join the sampled neighbours by plain stores. Concurrent joins may leave a tree
  /// unjoined. Each tree still lies within one component, and all edges of the trees that are not
  /// skipped are processed afterwards.
  void run() {
    const bool alone = w_.workers() == 1;
    each_range(ns_of_look, [t = trees<Id>(parent_)](worker_t, std::uint64_t v, std::uint64_t last) {
      for (; v < last; ++v) t.point(static_cast<Id>(v), static_cast<Id>(v));
    });
    join_sampled();
    flatten_all();
    const Id skipped = g_.has_in() ? frequent_value<Id>(parent_.local()) : no_vertex<Id>;
    const bool joined = alone ? join_the_rest<tm::plain_access>(skipped, sampled)
                              : join_the_rest<tm::atomic_access>(skipped, 0);
    if (joined) flatten_all();
  }

 private:
  static constexpr std::size_t sampled = 2;  // neighbours that every vertex joins first
  static constexpr std::size_t ahead = 16;   // prefetch distance, in vertices
  // Approximate time per vertex in a graph that fits the cache.
  static constexpr double ns_of_join = 10, ns_of_look = 2;

  // Calls f(worker, v, last) for ranges of this rank's vertices.
  template <class F>
  void each_range(double ns_of_vertex, F&& f) {
    traverse::for_own_ranges(w_, g_.out(), f, ns_of_vertex);
  }

  // The part of a row that names vertices of this rank.
  [[nodiscard]] std::span<const Id> own(std::span<const Id> row) const {
    if (whole_) return row;
    const auto begin = std::lower_bound(row.begin(), row.end(), first_);
    return {begin, std::lower_bound(begin, row.end(), last_)};
  }

  void flatten_all() {
    each_range(ns_of_look, [t = trees<Id>(parent_)](worker_t, std::uint64_t v, std::uint64_t last) {
      flatten(t, static_cast<Id>(v), last);
    });
  }

  void join_sampled() {
    const auto join_range = [&, t = trees<Id>(parent_)](worker_t, std::uint64_t v,
                                                        std::uint64_t last) {
      const auto rows = g_.out().rows();
      for (; v < last; ++v) {
        if (v + ahead < last_) rows.prefetch_row(v + ahead);
        const auto row = own(rows.neighbors(v));
        for (std::size_t i = 0; i < std::min(sampled, row.size()); ++i) {
          join<tm::plain_access>(t, static_cast<Id>(v), row[i]);
        }
      }
    };
    each_range(ns_of_join, join_range);
  }

  // An edge between a skipped tree and another is processed from its other endpoint.
  template <class Access>
  bool join_the_rest(Id skipped, std::size_t joined_before) {
    task::per_worker<bool> joined(w_.workers());
    each_range(ns_of_look,
               [&, t = trees<Id>(parent_)](worker_t k, std::uint64_t v, std::uint64_t last) {
                 bool any = false;
                 for (; v < last; ++v) {
                   if (t.parent(static_cast<Id>(v)) == skipped) continue;
                   const auto join_row = [&](std::span<const Id> row) {
                     for (const Id u : row) any |= join<Access>(t, static_cast<Id>(v), u);
                   };
                   const auto row = own(g_.out().neighbors(v));
                   join_row(row.subspan(std::min(joined_before, row.size())));
                   if (g_.directed() && g_.has_in()) join_row(own(g_.in().neighbors(v)));
                 }
                 joined[k] |= any;
               });
    return std::any_of(joined.begin(), joined.end(), [](const auto& j) { return j.value; });
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  pgas::vertex_map<Id>& parent_;
  const std::uint64_t first_, last_;  // this rank's vertices
  const bool whole_;                  // this rank has all vertices
};

}  // namespace cairn::algo
