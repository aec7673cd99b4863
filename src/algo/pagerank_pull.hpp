// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include <cairn/tm/cell.hpp>

#include "algo/pagerank_state.hpp"

namespace cairn::algo {

/// Sweeps in which each vertex sums what the sources of its in-edges give it.
template <class Real, class Id>
class pagerank_pull {
 public:
  pagerank_pull(pagerank_state<Real, Id>& s, bool in_place)
      : s_(s),
        in_place_(in_place),
        gifts_(s.g.num_vertices()),
        next_(in_place ? 0 : s.g.num_vertices()) {
    auto* const own = gifts_.data() + s.rank.first();
    s.w.parallel_for(s.per_edge.size(), [&](worker_t, std::size_t begin, std::size_t end) {
      for (auto i = begin; i < end; ++i) own[i] = s.rank.initial() * s.per_edge[i];
    });
  }

  void sweep() {
    gather();
    const auto& in = s_.g.in();
    const auto first = s_.rank.first();
    auto& to = in_place_ ? gifts_ : next_;
    s_.w.parallel_for(s_.per_edge.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      auto seen = s_.tallies[k];
      for (auto i = begin; i < end; ++i) {
        const Real gift = s_.settle(i, sum(in.neighbors(first + i)), seen);
        std::atomic_ref(to[first + i]).store(gift, std::memory_order_relaxed);
      }
      s_.tallies[k] = seen;
    });
    if (!in_place_) std::swap(gifts_, next_);
  }

 private:
  void gather() {
    if (s_.w.size() == 1) return;
    const auto own = gifts_.span().subspan(s_.rank.first(), s_.per_edge.size());
    const auto all = s_.w.template all_gather_values<Real>(own);
    std::copy(all.begin(), all.end(), gifts_.begin());
  }

  // In place other workers write meanwhile. Several sums, because each waits for itself.
  [[gnu::always_inline]] Real sum(std::span<const Id> sources) const {
    const auto* const gifts = gifts_.data();
    const auto n = sources.size();
    Real a = 0, b = 0, c = 0, d = 0;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
      a += tm::load_cell(gifts[sources[i]]);
      b += tm::load_cell(gifts[sources[i + 1]]);
      c += tm::load_cell(gifts[sources[i + 2]]);
      d += tm::load_cell(gifts[sources[i + 3]]);
    }
    for (; i < n; ++i) a += tm::load_cell(gifts[sources[i]]);
    return (a + b) + (c + d);
  }

  pagerank_state<Real, Id>& s_;
  const bool in_place_;
  hw::page_buffer<Real> gifts_, next_;  // of the whole graph
};

}  // namespace cairn::algo
