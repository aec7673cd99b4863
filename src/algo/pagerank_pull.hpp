// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <cairn/task/per_worker.hpp>
#include <cairn/tm/cell.hpp>

#include "algo/block_sums.hpp"
#include "algo/gathered_values.hpp"
#include "algo/pagerank_state.hpp"
#include "algo/rank_sum_correction.hpp"
#include "algo/row_sum_choice.hpp"

namespace cairn::algo {

/// Sums the contributions of one row's sources, those of long rows in four independent partial sums
/// and at most `longest_sum` at once.
///
/// Shared    other workers write the contributions concurrently (in-place sweeps)
template <class Real, class Id, bool Shared>
class contribution_sum {
 public:
  contribution_sum(const Real* contributions, std::span<const Id> all_targets)
      : contributions_(contributions), end_(all_targets.data() + all_targets.size()) {}

  template <row_sum How>
  [[gnu::always_inline]] Real of(const Id* at, const Id* end) const {
    if (end - at > longest_sum) [[unlikely]]
      return in_pieces<How>(at, end);
    return whole<How>(at, end);
  }

 private:
  template <row_sum How>
  [[gnu::always_inline]] Real whole(const Id* at, const Id* end) const {
    return How == row_sum::near ? near(at, end) : exactly<How == row_sum::far>(at, end);
  }

  template <row_sum How>
  [[gnu::noinline]] Real in_pieces(const Id* at, const Id* end) const {
    double sum = 0;
    for (const Id* piece = at; piece != end; piece = at) {
      at += std::min(end - piece, longest_sum);
      sum += double{whole<How>(piece, at)};
    }
    return static_cast<Real>(sum);
  }

  [[gnu::always_inline]] Real near(const Id* at, const Id* end) const {
    if (end - at <= 4) return last_terms(at, end);
    Real a = 0, b = 0, c = 0, d = 0;
    do {
      add_four(at, a, b, c, d);
      at += 4;
    } while (end - at > 4);
    return ((a + b) + (c + d)) + last_terms(at, end);
  }

  // Loads the row's own terms only. Adds in the order of near().
  template <bool Prefetches>
  [[gnu::always_inline]] Real exactly(const Id* at, const Id* end) const {
    if (at == end) return 0;
    if (end - at <= 4 && (!Prefetches || end_ - end >= ahead)) return few<Prefetches>(at, end);
    Real a = 0, b = 0, c = 0, d = 0;
    for (; end - at > 4; at += 4) {
      if (Prefetches && end_ - at >= ahead + 4) [[likely]] {
        for (std::ptrdiff_t j = 0; j < 4; ++j) {
          __builtin_prefetch(contributions_ + at[ahead + j], 0, second_cache);
        }
      }
      add_four(at, a, b, c, d);
    }
    return ((a + b) + (c + d)) + few<false>(at, end);
  }

  // One to four terms. No addition to zero: in place, a row may wait for the row before, and the
  // addition would lengthen that chain.
  template <bool Prefetches>
  [[gnu::always_inline]] Real few(const Id* at, const Id* end) const {
    const auto term = [&](std::ptrdiff_t j) __attribute__((always_inline)) {
      if (Prefetches) __builtin_prefetch(contributions_ + at[ahead + j], 0, second_cache);
      return contribution(at[j]);
    };
    const auto n = end - at;
    Real sum = term(0);
    if (n > 1) sum += term(1);
    if (n > 2) {
      Real last = term(2);
      if (n > 3) last += term(3);
      sum += last;
    }
    return sum;
  }

  static constexpr std::ptrdiff_t ahead = 32;
  static constexpr int second_cache = 2;

  [[gnu::always_inline]] void add_four(const Id* at, Real& a, Real& b, Real& c, Real& d) const {
    a += contribution(at[0]);
    b += contribution(at[1]);
    c += contribution(at[2]);
    d += contribution(at[3]);
  }

  // At most four terms, without a branch on their number.
  [[gnu::always_inline]] Real last_terms(const Id* at, const Id* end) const {
    if (end_ - at >= 4) {
      const auto& keep = kept[end - at];
      return (contribution(at[0]) * keep[0] + contribution(at[1]) * keep[1]) +
             (contribution(at[2]) * keep[2] + contribution(at[3]) * keep[3]);
    }
    return at == end ? 0 : few<false>(at, end);
  }

  static constexpr Real kept[5][4] = {
      {0, 0, 0, 0}, {1, 0, 0, 0}, {1, 1, 0, 0}, {1, 1, 1, 0}, {1, 1, 1, 1}};

  [[gnu::always_inline]] Real contribution(Id u) const {
    return Shared ? tm::load_cell(contributions_[u]) : contributions_[u];
  }
  const Real* contributions_;
  const Id* end_;
};

/// Sweeps in which each vertex sums the contributions of the sources of its in-edges.
template <class Real, class Id>
class pagerank_pull {
 public:
  /// tolerance  the total change at which the run stops
  /// layout     layout of the graph's in-edges; nullptr: the rows of the graph
  /// row_sums   how rows of the graph are summed; nothing: the first sweep compares ways
  pagerank_pull(pagerank_state<Real, Id>& s, bool in_place, double tolerance,
                const pull_layout<Id>* layout, std::optional<row_sum> row_sums)
      : s_(s),
        in_place_(in_place),
        tolerance_(tolerance),
        layout_(layout),
        row_sums_(s.w.workers(), row_sums),
        sums_(s.w.workers()),
        contributions_(s.g.num_vertices(), s.w.memory()),
        next_(in_place ? 0 : s.g.num_vertices(), s.w.memory()),
        gathered_(s.w, s.g.partition()),
        found_(s.w) {
    s.invert_degrees(contributions_.data() + s.rank.first(), in_place_ ? &found_ : nullptr);
    if (in_place_) num_with_edges_ = found_.collect();
    if (row_sums) note_choice(s.w.trace(), *row_sums);
  }

  void sweep() {
    if (compared()) correct_sum();
    ++sweeps_;
    gathered_.refresh(contributions_.span());
    if (in_place_ && s_.w.workers() > 1) {
      sweep_all<true>();
    } else {
      sweep_all<false>();
    }
    if (!in_place_) std::swap(contributions_, next_);
  }

 private:
  // Whether the sum of all ranks is checked after the current sweep.
  [[nodiscard]] bool compared() const noexcept {
    return in_place_ && rank_sum_correction::due(sweeps_);
  }

  void correct_sum() {
    const double expected = double{s_.damping} * double{s_.jump} * num_with_edges_;
    const double by = correction_.factor({.expected = expected,
                                          .found = found_.collect(),
                                          .change = s_.change,
                                          .tolerance = tolerance_});
    if (by == 1) return;
    auto* const own = contributions_.data() + s_.rank.first();
    s_.w.parallel_for(s_.per_edge.size(), [&, factor = static_cast<Real>(by)](
                                              worker_t, std::size_t begin, std::size_t end) {
      auto* const ranks = s_.rank.local().data();
      const auto* const per_edge = s_.per_edge.data();
      const Real jump = s_.jump;
      for (auto i = begin; i < end; ++i) {
        ranks[i] = jump + factor * (ranks[i] - jump);
        own[i] = ranks[i] * per_edge[i];
      }
    });
  }

  // The contribution of positions [begin, end) to `found` of rank_sum_correction.
  [[nodiscard]] double found_in(std::size_t begin, std::size_t end) const {
    // Vectorised: partial sums over a short stretch, and a mask instead of a condition.
    constexpr std::size_t lanes = 32, stretch = 1024;
    using bits = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
    const auto* const ranks = s_.rank.local().data();
    const auto* const with_edges = s_.per_edge.data();
    const auto term = [=, jump = s_.jump, d = s_.damping](std::size_t i) {
      const Real came = ranks[i] - jump;
      const bits mask = std::bit_cast<bits>(with_edges[i]) == 0 ? 0 : -1;
      return came - d * std::bit_cast<Real>(std::bit_cast<bits>(came) & mask);
    };
    double sum = 0;
    while (begin < end) {
      const auto stop = std::min(end, begin + stretch);
      Real part[lanes] = {};
      for (; begin + lanes <= stop; begin += lanes) {
        for (std::size_t j = 0; j < lanes; ++j) part[j] += term(begin + j);
      }
      for (; begin < stop; ++begin) part[0] += term(begin);
      for (const Real x : part) sum += double{x};
    }
    return sum;
  }

  template <bool Shared>
  void sweep_all() {
    if (layout_ == nullptr) {
      sweep_rows<Shared>();
    } else if (layout_->tiled()) {
      sweep_blocks<Shared, std::uint16_t>();
    } else {
      sweep_blocks<Shared, Id>();
    }
  }

  // Consumers of a row's sum; with tiles a row has several partial sums.
  struct adder {
    Real* sums;
    [[gnu::always_inline]] void operator()(std::size_t row, Real sum) { sums[row] += sum; }
  };
  using rank_updater = typename pagerank_state<Real, Id>::rank_updater;
  template <bool Shared>
  struct finisher {
    rank_updater update_rank;
    Real* to;
    std::size_t first;
    [[gnu::always_inline]] void operator()(std::size_t row, Real sum) {
      give<Shared>(to[first + row], update_rank(first + row, sum));
    }
  };

  template <bool Shared, class Source>
  void sweep_blocks() {
    constexpr bool tiles = sizeof(Source) == 2;
    const block_sums<Real, Id, Source, Shared> add_up(*layout_, contributions_.data());
    const bool together = in_place_ && sweeps_ <= sweeps_together;
    s_.w.parallel_for(
        layout_->blocks().size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          auto* const to = (in_place_ ? contributions_ : next_).data() + s_.g.in().first();
          auto update_rank = s_.updater();
          for (auto i = begin; i < end; ++i) {
            const auto& b = layout_->blocks()[i];
            if constexpr (!tiles) {
              if (!together) {
                update_rank = add_up(b, finisher<Shared>{update_rank, to, b.first}).update_rank;
                continue;
              }
            }
            auto* const sums = zeros_of(k);
            add_up(b, adder{sums});
            update_rank = take_sums<Shared>(b, sums, to, update_rank);
          }
          rows_swept(k, layout_->blocks()[begin].first, layout_->blocks()[end - 1].last,
                     update_rank.change);
        },
        tiles ? 1 : sweep_chunk(s_.w, layout_->blocks().size(), s_.g.in().num_edges()));
  }

  // Updates a block's rows from their sums, which become zero. Inlined, it would keep `change` in
  // memory.
  template <bool Shared>
  [[gnu::noinline]] static rank_updater take_sums(const typename pull_layout<Id>::block& b,
                                                  Real* sums, Real* to, rank_updater update_rank) {
    for (auto row = b.first; row < b.last; ++row) {
      give<Shared>(to[row], update_rank(row, std::exchange(sums[row - b.first], Real{0})));
    }
    return update_rank;
  }

  // Worker k's buffer for the sums of a block; all zero.
  Real* zeros_of(worker_t k) {
    auto& sums = sums_[k];
    if (sums.empty()) {
      sums = hw::page_buffer<Real>(layout_->block_rows(), s_.w.memory());
      std::fill(sums.begin(), sums.end(), Real{0});
    }
    return sums.data();
  }

  template <bool Shared>
  [[gnu::always_inline]] static void give(Real& to, Real contribution) {
    if constexpr (Shared) {
      std::atomic_ref(to).store(contribution, std::memory_order_relaxed);
    } else {
      to = contribution;
    }
  }

  template <bool Shared>
  void sweep_rows() {
    const bool learns = row_sums_.learns();
    const auto how = row_sums_.chosen();
    s_.w.parallel_for(
        s_.per_edge.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          const auto change =
              learns ? sweep_timed<Shared>(k, begin, end) : sweep_stretch<Shared>(how, begin, end);
          rows_swept(k, begin, end, change);
        },
        sweep_chunk(s_.w, s_.per_edge.size(), s_.g.in().num_edges()));
    if (!learns) return;
    row_sums_.end();
    note_choice(s_.w.trace(), row_sums_.chosen());
  }

  // Returns the change.
  template <bool Shared>
  double sweep_timed(worker_t k, std::size_t begin, std::size_t end) {
    const auto offsets = s_.g.in().offsets();
    double change = 0;
    for (auto now = s_.w.clock().now_ns(); begin < end;) {
      const auto stop = std::min(end, begin + row_sum_choice::stretch);
      const auto way = row_sums_.next(k);
      change += sweep_stretch<Shared>(way, begin, stop);
      const auto before = std::exchange(now, s_.w.clock().now_ns());
      row_sums_.took(k, way, offsets[stop] - offsets[begin] + (stop - begin), now - before);
      begin = stop;
    }
    return change;
  }

  template <bool Shared>
  double sweep_stretch(row_sum how, std::size_t begin, std::size_t end) {
    switch (how) {
      case row_sum::even:
        return sweep_stretch<Shared, row_sum::even>(begin, end);
      case row_sum::far:
        return sweep_stretch<Shared, row_sum::far>(begin, end);
      case row_sum::near:
        break;
    }
    return sweep_stretch<Shared, row_sum::near>(begin, end);
  }

  // Returns the change. Inlined, the loop would keep pointers in memory.
  template <bool Shared, row_sum How>
  [[gnu::noinline]] double sweep_stretch(std::size_t begin, std::size_t end) {
    const auto& in = s_.g.in();
    const contribution_sum<Real, Id, Shared> sum(contributions_.data(), in.targets());
    const auto* const offsets = in.offsets().data();
    const auto* const targets = in.targets().data();
    auto* const to = (in_place_ ? contributions_ : next_).data() + in.first();
    auto update_rank = s_.updater();
    const Id* at = targets + offsets[begin];
    for (auto i = begin; i < end; ++i) {
      const Id* const row_end = targets + offsets[i + 1];
      give<Shared>(to[i], update_rank(i, sum.template of<How>(at, row_end)));
      at = row_end;
    }
    return update_rank.change;
  }

  void rows_swept(worker_t k, std::size_t begin, std::size_t end, double change) {
    s_.total.accumulate(k, change);
    if (compared()) found_.accumulate(k, found_in(begin, end));
    const auto offsets = s_.g.in().offsets();
    s_.w.counters().add(k, obs::counter::edges, offsets[end] - offsets[begin]);
  }

  // The first sweeps update the rows of a block together, later sweeps one by one, which needs
  // fewer sweeps. The first sweeps move uniform ranks towards the degrees. The rows of a block are
  // ordered by length, so updates one by one would change the rank sums of all parts of the graph,
  // and rank_sum_correction restores only the total.
  static constexpr int sweeps_together = 2;

  pagerank_state<Real, Id>& s_;
  const bool in_place_;
  const double tolerance_;
  int sweeps_ = 0;  // number of sweeps begun
  const pull_layout<Id>* layout_;
  row_sum_choice row_sums_;                       // without a layout
  task::per_worker<hw::page_buffer<Real>> sums_;  // of one block
  hw::page_buffer<Real> contributions_, next_;    // of the whole graph
  gathered_values<Real> gathered_;
  pgas::accumulator<add<double>> found_;  // see rank_sum_correction
  double num_with_edges_ = 0;             // number of vertices with out-edges, on all ranks
  rank_sum_correction correction_;
};

}  // namespace cairn::algo
