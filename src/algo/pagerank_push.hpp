// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>

#include <cairn/activity/executor.hpp>
#include <cairn/algo/pagerank.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/pgas/accumulator_map.hpp>

#include "algo/pagerank_state.hpp"

namespace cairn::algo {

/// Sums the contributions pushed to each vertex with one operator per push. It has the interface of
/// an accumulator_map, which avoids the conflicts. Sums are double: in float, that of a million
/// equal contributions would be wrong by up to a hundredth.
template <class Real, class Id>
class operator_sums {
  struct increase {  // the operator; always succeeds
    struct message {
      Id v;
      Real by;
    };
    pgas::vertex_view<double> totals;

    auto cell(const message& m) const { return totals.at(m.v); }
    void attempt(auto total, const message& m) const { total.add(double{m.by}); }
  };

 public:
  operator_sums(world& w, const pgas::partition& partition, const activity::options& opt)
      : w_(w), totals_(w, partition, 0.0), increases_(w, increase{totals_.view()}, opt) {}

  template <class Body>
  void accumulate(worker_t k, Body&& body) {
    increases_.spawn(k, [&](auto& send) { body([&](Id v, Real by) { send({v, by}); }); });
  }

  template <class F>
  void collect(F&& f) {
    const auto totals = totals_.local();
    w_.parallel_for(totals.size(), [&](worker_t k, std::size_t begin, std::size_t end) {
      const auto part = totals.subspan(begin, end - begin);
      f(k, totals_.first() + begin, std::span<const double>(part));
      std::fill(part.begin(), part.end(), 0.0);
    });
  }

  [[nodiscard]] activity::ran ran() const { return increases_.ran(); }

 private:
  world& w_;
  pgas::vertex_map<double> totals_;
  activity::executor<increase> increases_;
};

/// Sweeps in which each vertex adds to the targets of its out-edges.
///
/// Sums    accumulator_map or operator_sums
template <class Real, class Id, class Sums>
class pagerank_push {
 public:
  pagerank_push(pagerank_state<Real, Id>& s, Sums& sums, bool share_out_edges)
      : s_(s), sums_(sums), share_out_edges_(share_out_edges) {
    s_.invert_degrees(nullptr, nullptr);
  }

  void sweep() {
    am::epoch epoch(s_.w);
    if (share_out_edges_) {
      push_edges();
    } else {
      push_rows();
    }
    epoch.close();
    sums_.collect([&](worker_t k, std::uint64_t first, std::span<const double> totals) {
      auto update_rank = s_.updater();
      const auto at = first - s_.rank.first();
      for (std::size_t i = 0; i < totals.size(); ++i) {
        update_rank(at + i, static_cast<Real>(totals[i]));
      }
      s_.total.accumulate(k, update_rank.change);
    });
  }

 private:
  [[nodiscard]] Real contribution(std::size_t i) const {
    return s_.rank.local()[i] * s_.per_edge[i];
  }

  void push_rows() {
    const auto& out = s_.g.out();
    s_.w.parallel_for(
        out.num_rows(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          sums_.accumulate(k, [&](auto&& add) {
            for (auto i = begin; i < end; ++i) {
              const Real x = contribution(i);
              for (const Id v : out.neighbors(out.first() + i)) add(v, x);
            }
          });
          const auto offsets = out.offsets();
          s_.w.counters().add(k, obs::counter::edges, offsets[end] - offsets[begin]);
        },
        sweep_chunk(s_.w, out.num_rows(), out.num_edges()));
  }

  // A chunk of edges may start and end within rows.
  void push_edges() {
    const auto& out = s_.g.out();
    const auto offsets = out.offsets();
    const auto* const targets = out.targets().data();
    s_.w.parallel_for(out.num_edges(), [&](worker_t k, std::size_t begin, std::size_t end) {
      const auto first = offsets[0] + begin, last = offsets[0] + end;
      const auto after = std::upper_bound(offsets.begin(), offsets.end(), first);
      auto i = static_cast<std::size_t>(after - offsets.begin()) - 1;
      sums_.accumulate(k, [&](auto&& add) {
        for (auto e = first; e < last; ++i) {
          const Real x = contribution(i);
          for (const auto row_end = std::min(last, offsets[i + 1]); e < row_end; ++e) {
            add(targets[e], x);
          }
        }
      });
      s_.w.counters().add(k, obs::counter::edges, end - begin);
    });
  }

  pagerank_state<Real, Id>& s_;
  Sums& sums_;
  const bool share_out_edges_;
};

}  // namespace cairn::algo
