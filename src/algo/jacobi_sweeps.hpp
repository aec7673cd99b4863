// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include <cairn/algo/pagerank.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/base/compensated_sum.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/traverse/own.hpp>
#include <cairn/traverse/push.hpp>

namespace cairn::algo {

/// The sums of a sweep along out-edges at each vertex of this rank, by atomic additions in double,
/// and their numbers of terms. It shares no code with pagerank().
///
/// Messages    one per edge to another rank
/// Collective  constructor
template <class Real, class Id>
struct incoming {
  struct message {
    Id v;
    double by;
  };

  incoming(world& w, const graph::dist_csr<Id>& g, const pgas::vertex_map<Real>& rank)
      : sum(w, g.partition(), 0), terms(w, g.partition(), 0) {
    const auto& out = g.out();
    am::channel<message> contributions(w, [&](worker_t, std::span<const message> batch) {
      for (const auto& m : batch) take(m.v, m.by);
    });
    traverse::push_own(w, contributions, out, [&](Id u, auto& send) {
      const auto row = out.neighbors(u);
      const auto by = static_cast<double>(rank.load(u)) / static_cast<double>(row.size());
      for (const Id v : row) {
        if (sum.owns(v)) {
          take(v, by);
        } else {
          send(sum.owner(v), {v, by});
        }
      }
      return row.size();
    });
  }

  void take(Id v, double by) {
    tm::cell_ref<double, tm::atomic_access>(sum.at(v).element()).add(by);
    tm::cell_ref<std::uint64_t, tm::atomic_access>(terms.at(v).element()).add(1);
  }

  pgas::vertex_map<double> sum;
  pgas::vertex_map<std::uint64_t> terms;
};

/// The ranks after any number of Jacobi sweeps in double, for verifiers.
///
/// Memory      per rank: two doubles and a count per vertex
/// Collective  sweep()
template <class Id>
class jacobi_sweeps {
 public:
  jacobi_sweeps(world& w, const graph::dist_csr<Id>& g, const pagerank_options& opt)
      : w_(w),
        g_(g),
        damping_(opt.damping),
        spread_sinks_(limits_of(opt, g.num_vertices()).spread_sinks),
        rank_(w, g.partition(), 1 / static_cast<double>(g.num_vertices())) {}

  void sweep() {
    const incoming<double, Id> in(w_, g_, rank_);
    const auto n = static_cast<double>(g_.num_vertices());
    const auto jump = (1 - damping_ + (spread_sinks_ ? damping_ * rank_of_sinks() : 0)) / n;
    task::per_worker<double> changes(w_.workers());
    traverse::for_each_own(w_, rank_, [&](worker_t k, std::uint64_t v) {
      const auto x = jump + damping_ * in.sum.load(v);
      changes[k] += std::abs(x - rank_.load(v));
      rank_.store(v, x);
    });
    double mine = 0;
    for (const auto& k : changes) mine += k.value;
    change_ = w_.sum(mine);
  }

  [[nodiscard]] const pgas::vertex_map<double>& rank() const noexcept { return rank_; }
  /// Total change of the last sweep.
  [[nodiscard]] double change() const noexcept { return change_; }

 private:
  [[nodiscard]] double rank_of_sinks() const {
    task::per_worker<compensated_sum> parts(w_.workers());
    traverse::for_each_own(w_, rank_, [&](worker_t k, std::uint64_t v) {
      if (g_.out().degree(v) == 0) parts[k] += rank_.load(v);
    });
    compensated_sum mine;
    for (const auto& k : parts) mine += k.value;
    return w_.sum(mine.value());
  }

  world& w_;
  const graph::dist_csr<Id>& g_;
  const double damping_;
  const bool spread_sinks_;
  pgas::vertex_map<double> rank_;
  double change_ = 0;
};

}  // namespace cairn::algo
