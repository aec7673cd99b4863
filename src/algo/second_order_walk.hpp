// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <cairn/algo/walk.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/accumulator.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/traverse/push.hpp>

#include "algo/path_recorder.hpp"
#include "algo/walkers.hpp"

namespace cairn::algo {

/// Walks as specified for walk(), with first- or second-order steps and optional paths. Each walker
/// stores its previous vertex and its number.
///
/// Collective  constructor, destructor, run()
template <class Id>
class second_order_walk {
  static constexpr Id none = no_vertex<Id>;

  struct walker {  // also the message
    random64 draws{0};
    std::uint64_t number = 0;
    Id at = 0, before = none;  // current and previous vertex; before: none at the start
    Id candidate = none;       // target of a drawn edge; its weight depends on the row of `before`
    std::uint32_t steps = 0;
    bool arrived = false;  // whether the visit to `at` has been counted

    static walker of(std::uint64_t key, std::uint64_t number) {
      return {random64(key).stream(number), number};
    }
  };
  static constexpr std::size_t group = 32;  // exceeds the number of cache misses in flight
  static constexpr std::uint32_t max_local_steps = 256;  // as in walk.cpp

 public:
  second_order_walk(world& w, const graph::dist_csr<Id>& g, const walk_options& opt)
      : w_(w),
        rows_(g.out().rows()),
        num_vertices_(g.num_vertices()),
        opt_(opt),
        others_weight_(opt.p * std::max(1.0, 1 / opt.q)),
        visits_(w, g.partition(), 0),
        view_(visits_.view()),
        steps_(w),
        ended_early_(w),
        arrivals_(
            w, [this](const walker& x) { return view_.owner(continues_at(x)); },
            [this](worker_t k, std::span<const walker> batch) { handle(k, batch); }) {
    if (opt.paths) recorder_.emplace(w, opt);
  }

  walk_result<Id> run() {
    const pgas::partition_view shares(opt_.walkers, w_.size());
    const auto first = shares.first(w_.rank()), mine = shares.size(w_.rank());
    const auto ns_each =
        40.0 * static_cast<double>(std::min<std::uint64_t>(opt_.length, max_local_steps));
    traverse::push_ranges(
        w_, arrivals_, mine,
        [&](auto& send, worker_t k, std::size_t begin, std::size_t end) {
          return start(k, send, first + begin, first + end);
        },
        std::max(group, traverse::chunk_of(w_, mine, 10 + ns_each)));
    const auto steps = steps_.collect(), ended_early = ended_early_.collect();
    walk_result<Id> found{std::move(visits_),
                          opt_.walkers,
                          steps,
                          ended_early,
                          opt_.key,
                          {activity::mechanism::plain, 1, "walkers are messages, not operators"}};
    if (recorder_) found.paths = recorder_->take();
    return found;
  }

 private:
  // The vertex at whose owner the walker continues.
  static Id continues_at(const walker& x) noexcept { return x.candidate == none ? x.at : x.before; }

  std::uint64_t start(worker_t k, auto& send, std::uint64_t number, std::uint64_t last) {
    return advance(k, send,
                   walkers_from<walker>(number, last, opt_.key, num_vertices_, view_, send));
  }

  void handle(worker_t k, std::span<const walker> batch) {
    auto send = arrivals_.from(k);
    const auto steps = advance(k, send, walkers_of(batch));
    w_.counters().add(k, obs::counter::edges, steps);
  }

  // Moves walkers until each has stopped or been sent. next(x) assigns another walker that
  // continues at this rank, or returns false. Returns the number of steps.
  template <class Next>
  std::uint64_t advance(worker_t k, auto& send, Next&& next) {
    std::array<walker, group> all;
    std::size_t num = 0;
    std::uint64_t steps = 0, ended_early = 0;
    for (;;) {
      for (; num < group && next(all[num]); ++num) prefetch(continues_at(all[num]));
      if (num == 0) break;
      num = keep_if(all, num, [&](walker& x) { return arrive(k, x, ended_early); });
      num = keep_if(all, num, [&](walker& x) { return move(x, send, steps); });
    }
    steps_.accumulate(k, steps);
    ended_early_.accumulate(k, ended_early);
    return steps;
  }

  static std::size_t keep_if(std::array<walker, group>& all, std::size_t num, auto&& keep) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < num; ++i) {
      auto x = all[i];
      if (keep(x)) all[kept++] = x;
    }
    return kept;
  }

  [[gnu::always_inline]] void prefetch(Id v) const {
    rows_.prefetch_offset(v);
    __builtin_prefetch(&view_.element(v), 1);
  }

  // Counts the visit. Returns whether the walker has steps left and an edge to follow.
  bool arrive(worker_t k, walker& x, std::uint64_t& ended_early) {
    rows_.prefetch_row(continues_at(x));
    if (x.arrived) return true;
    x.arrived = true;
    count_visit(view_.element(x.at));
    if (recorder_) recorder_->record(k, x.number, x.steps, x.at);
    if (x.steps == opt_.length) return false;
    if (!rows_.neighbors(x.at).empty()) return true;
    ++ended_early;
    return false;
  }

  // Draws an edge, or decides about the candidate. Returns whether the walker stays on this rank.
  bool move(walker& x, auto& send, std::uint64_t& steps) {
    const auto to = x.candidate != none ? take_or_reject(x) : draw(x);
    if (to != none) {
      x.before = std::exchange(x.at, to);
      x.arrived = false;
      ++steps;
      ++x.steps;
    }
    const auto v = continues_at(x);
    if ((x.arrived || x.steps % max_local_steps != 0) && view_.owns(v)) {
      prefetch(v);
      return true;
    }
    send(view_.owner(v), x);
    return false;
  }

  // The target of the edge that the walker takes; none if the row of `before` must decide.
  Id draw(walker& x) const {
    const auto row = rows_.neighbors(x.at);
    if (!opt_.biased() || x.before == none) return row[x.draws.below(row.size())];
    const auto [back, back_end] = std::equal_range(row.begin(), row.end(), x.before);
    const auto num_back = static_cast<std::uint64_t>(back_end - back);
    const auto others = row.size() - num_back;
    if (others == 0) return x.before;
    const auto back_weight = static_cast<double>(num_back);
    const auto all_weights = back_weight + static_cast<double>(others) * others_weight_;
    if (x.draws.uniform() < back_weight / all_weights) return x.before;
    const auto i = x.draws.below(others);
    const auto to = row[i + (i < static_cast<std::uint64_t>(back - row.begin()) ? 0 : num_back)];
    if (x.draws.uniform() < std::min(opt_.q, 1 / opt_.q)) return to;
    x.candidate = to;
    return none;
  }

  // Takes the candidate if it belongs to the kind with the larger weight: adjacent to the previous
  // vertex if q > 1, not adjacent if q < 1.
  Id take_or_reject(walker& x) const {
    const auto to = std::exchange(x.candidate, none);
    const auto row = rows_.neighbors(x.before);
    return std::binary_search(row.begin(), row.end(), to) == (opt_.q > 1) ? to : none;
  }

  void count_visit(std::uint64_t& visits) const {
    if (w_.workers() == 1) {
      ++visits;
    } else {
      tm::cell_ref<std::uint64_t, tm::atomic_access>(visits).add(1);
    }
  }

  world& w_;
  const graph::row_view<Id> rows_;
  const std::uint64_t num_vertices_;
  const walk_options opt_;
  const double others_weight_;  // p times the largest weight of an edge that does not lead back
  pgas::vertex_map<std::uint64_t> visits_;
  const pgas::vertex_view<std::uint64_t> view_;
  pgas::accumulator<add<std::uint64_t>> steps_, ended_early_;
  std::optional<path_recorder<Id>> recorder_;
  am::channel<walker> arrivals_;
};

}  // namespace cairn::algo
