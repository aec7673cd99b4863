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
    std::uint16_t moves = 0;  // draws and decisions, modulo 2^16
    bool arrived = false;     // whether the visit to `at` has been counted

    static walker of(std::uint64_t key, std::uint64_t number) {
      return {random64(key).stream(number), number};
    }
  };
  using state = walk_state<Id>;
  using counter = typename state::counter;

 public:
  second_order_walk(world& w, const graph::dist_csr<Id>& g, const walk_options& opt)
      : state_(w, g, opt),
        others_weight_(opt.p * std::max(1.0, 1 / opt.q)),
        arrivals_(
            w, [this](const walker& x) { return state_.view.owner(continues_at(x)); },
            [this](worker_t k, std::span<const walker> batch) {
              state_.handle(*this, arrivals_, k, batch);
            }) {
    if (opt.paths) recorder_.emplace(w, opt);
  }

  walk_result<Id> run() {
    auto found = state_.run(*this, arrivals_, 40);
    if (recorder_) found.paths = recorder_->take();
    return found;
  }

  /// As specified for walk_state.
  template <class Next>
  std::uint64_t advance(worker_t k, auto& send, Next&& next) {
    std::array<walker, state::group> all;
    std::size_t num = 0;
    std::uint64_t steps = 0, ended_early = 0;
    const auto visits = state_.visits.of(k);
    for (;;) {
      for (; num < state::group && next(all[num]); ++num) {
        state_.prefetch(continues_at(all[num]), visits);
      }
      if (num == 0) break;
      num = keep_if(all, num, [&](walker& x) { return arrive(k, x, visits, ended_early); });
      num = keep_if(all, num, [&](walker& x) { return move(x, visits, send, steps); });
    }
    state_.steps.accumulate(k, steps);
    state_.ended_early.accumulate(k, ended_early);
    return steps;
  }

 private:
  // The vertex at whose owner the walker continues.
  static Id continues_at(const walker& x) noexcept { return x.candidate == none ? x.at : x.before; }

  static std::size_t keep_if(std::array<walker, state::group>& all, std::size_t num, auto&& keep) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < num; ++i) {
      auto x = all[i];
      if (keep(x)) all[kept++] = x;
    }
    return kept;
  }

  // Counts the visit. Returns whether the walker has steps left and an edge to follow.
  bool arrive(worker_t k, walker& x, const counter& visits, std::uint64_t& ended_early) {
    state_.rows.prefetch_row(continues_at(x));
    if (x.arrived) return true;
    x.arrived = true;
    visits.add(x.at);
    if (recorder_) recorder_->record(k, x.number, x.steps, x.at);
    if (x.steps == state_.opt.length) return false;
    if (!state_.rows.neighbors(x.at).empty()) return true;
    ++ended_early;
    return false;
  }

  // Draws an edge, or decides about the candidate. Returns whether the walker stays on this rank.
  bool move(walker& x, const counter& visits, auto& send, std::uint64_t& steps) {
    const auto to = x.candidate != none ? take_or_reject(x) : draw(x);
    if (to != none) {
      x.before = std::exchange(x.at, to);
      x.arrived = false;
      ++steps;
      ++x.steps;
    }
    const auto v = continues_at(x);
    if (++x.moves % state::max_local_steps != 0 && state_.view.owns(v)) {
      state_.prefetch(v, visits);
      return true;
    }
    send(state_.view.owner(v), x);
    return false;
  }

  // The target of the edge that the walker takes; none if the row of `before` must decide.
  Id draw(walker& x) const {
    const auto row = state_.rows.neighbors(x.at);
    if (!state_.opt.biased() || x.before == none) return row[x.draws.below(row.size())];
    const auto [back, back_end] = std::equal_range(row.begin(), row.end(), x.before);
    const auto num_back = static_cast<std::uint64_t>(back_end - back);
    const auto others = row.size() - num_back;
    if (others == 0) return x.before;
    const auto back_weight = static_cast<double>(num_back);
    const auto all_weights = back_weight + static_cast<double>(others) * others_weight_;
    if (x.draws.uniform() < back_weight / all_weights) return x.before;
    const auto i = x.draws.below(others);
    const auto to = row[i + (i < static_cast<std::uint64_t>(back - row.begin()) ? 0 : num_back)];
    if (x.draws.uniform() < std::min(state_.opt.q, 1 / state_.opt.q)) return to;
    x.candidate = to;
    return none;
  }

  // Takes the candidate if it belongs to the kind with the larger weight: adjacent to the previous
  // vertex if q > 1, not adjacent if q < 1.
  Id take_or_reject(walker& x) const {
    const auto to = std::exchange(x.candidate, none);
    const auto row = state_.rows.neighbors(x.before);
    return std::binary_search(row.begin(), row.end(), to) == (state_.opt.q > 1) ? to : none;
  }

  state state_;
  const double others_weight_;  // p times the largest weight of an edge that does not lead back
  std::optional<path_recorder<Id>> recorder_;
  am::channel<walker> arrivals_;
};

}  // namespace cairn::algo
