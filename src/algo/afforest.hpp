// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/vertex_map.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/disjoint_sets.hpp"

namespace cairn::algo {

/// The most frequent of a sample of own values; no_vertex if there are none. Which one is not
/// always right, but always the same.
template <class Id>
[[nodiscard]] Id frequent_value(std::span<const Id> values) {
  if (values.empty()) return no_vertex<Id>;
  std::array<Id, 1024> sample;
  random64 draw(values.size());
  for (auto& s : sample) s = values[draw.below(values.size())];
  std::sort(sample.begin(), sample.end());
  Id most = sample[0];
  std::ptrdiff_t times = 0;
  for (auto at = sample.begin(); at != sample.end();) {
    const auto end = std::upper_bound(at, sample.end(), *at);
    if (end - at > times) {
      times = end - at;
      most = *at;
    }
    at = end;
  }
  return most;
}

/// Trees over this rank's vertices, joined along the edges whose two ends are here.
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

  /// Afterwards each vertex's parent is its root, the smallest vertex of its tree.
  void run() {
    if (w_.workers() == 1) {
      run_with<tm::plain_access>();
    } else {
      run_with<tm::atomic_access>();
    }
  }

 private:
  static constexpr std::size_t sampled = 2;   // neighbours that every vertex joins
  static constexpr std::size_t ahead = 16;    // vertices between asking for a row and using it
  static constexpr double ns_of_vertex = 10;  // about

  // f(k, v) for own vertices in chunks, each from k's.
  template <class F>
  void each_chunk(F&& f) {
    traverse::for_own_ranges(w_, g_.out(), f, ns_of_vertex);
  }

  // The part of a row that names own vertices.
  [[nodiscard]] std::span<const Id> own(std::span<const Id> row) const {
    if (whole_) return row;
    const auto begin = std::lower_bound(row.begin(), row.end(), first_);
    return {begin, std::lower_bound(begin, row.end(), last_)};
  }

  void flatten_all() {
    each_chunk([t = trees<Id>(parent_)](worker_t, std::uint64_t v, std::uint64_t last) {
      flatten(t, static_cast<Id>(v), last);
    });
  }

  template <class Access>
  void run_with() {
    join_sampled<Access>();
    flatten_all();
    const Id skipped = g_.has_in() ? frequent_value<Id>(parent_.local()) : no_vertex<Id>;
    if (join_the_rest<Access>(skipped)) flatten_all();
  }

  template <class Access>
  void join_sampled() {
    each_chunk([&, t = trees<Id>(parent_)](worker_t, std::uint64_t v, std::uint64_t last) {
      const auto rows = g_.out().rows();
      for (; v < last; ++v) {
        if (v + ahead < last_) rows.prefetch_row(v + ahead);
        const auto row = own(rows.neighbors(v));
        for (std::size_t i = 0; i < std::min(sampled, row.size()); ++i) {
          join<Access>(t, static_cast<Id>(v), row[i]);
        }
      }
    });
  }

  // An edge between two trees of which one is skipped is seen from its other end.
  template <class Access>
  bool join_the_rest(Id skipped) {
    task::per_worker<bool> joined(w_.workers());
    each_chunk([&, t = trees<Id>(parent_)](worker_t k, std::uint64_t v, std::uint64_t last) {
      bool any = false;
      for (; v < last; ++v) {
        if (t.parent(static_cast<Id>(v)) == skipped) continue;
        const auto join_row = [&](std::span<const Id> row) {
          for (const Id u : row) any |= join<Access>(t, static_cast<Id>(v), u);
        };
        const auto row = own(g_.out().neighbors(v));
        join_row(row.subspan(std::min(sampled, row.size())));
        if (g_.directed() && g_.has_in()) join_row(own(g_.in().neighbors(v)));
      }
      joined[k] |= any;
    });
    return std::any_of(joined.begin(), joined.end(), [](const auto& j) { return j.value; });
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  pgas::vertex_map<Id>& parent_;
  const std::uint64_t first_, last_;  // own vertices
  const bool whole_;                  // all are
};

}  // namespace cairn::algo
