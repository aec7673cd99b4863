// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include <cairn/activity/commit.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/tuner.hpp>
#include <cairn/activity/worker_state.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/fallback_lock.hpp>

namespace cairn::activity {

template <class Op, mechanism Fixed>
class coarse;

/// How an answer travels: with its question, so that the spawner need not keep it.
template <class Op>
struct answer_to {
  typename Op::message question;
  result_t<Op> result;
};

namespace detail {

struct nothing {};
template <class Op>
struct answers_of {
  using channel = nothing;
  using sender = nothing;
};
template <fire_and_return Op>
struct answers_of<Op> {
  using channel = std::optional<am::channel<answer_to<Op>>>;
  using sender = std::optional<typename am::channel<answer_to<Op>>::sender>;
};
template <class Op>
using answer_sender_of = typename answers_of<Op>::sender;
template <class Op>
using answer_channel_of = typename answers_of<Op>::channel;

}  // namespace detail

/// One worker's way into a coarse operator for the length of a chunk or a span, compiled for
/// one mechanism. `Alone`: there is one rank, so every cell is here. A measured lane takes the time
/// of its groups, which then are of at least 64 operators: so a clock costs nothing even if their
/// transactions are short.
template <class Coarse, class How, bool Alone>
class lane {
 public:
  using Op = typename Coarse::operator_type;
  using message = typename Op::message;

  lane(Coarse& c, worker_t k, const tuner::step& by)
      : coarse_(c),
        state_(c.workers_[k]),
        grain_(by.way.grain),
        measured_(How::in_groups && by.measured),
        room_(measured_ ? std::max(grain_, measured_group) : grain_),
        worker_(k) {
    if constexpr (!Alone) {
      sender_.emplace(*c.channel_, k);
      if constexpr (returns) answers_.emplace(*c.answers_, k);
      if constexpr (filtered<Op>) state_.filter.enter(c.world_.messages().epoch());
    }
  }
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// Sends m to the owner of its element.
  [[gnu::always_inline]] void operator()(const message& m) {
    if constexpr (!Alone) {
      if (!shape<Op>::is_here(coarse_.op_, m)) {
        send(m);
        return;
      }
    }
    offer(m, coarse_.world_.rank());
  }

  /// Takes in a message that rank `from` has spawned.
  void arrived(const message& m, rank_t from) { offer(m, from); }

  /// Takes in the answer to a message that this rank has spawned.
  void answered(const answer_to<Op>& a) requires fire_and_return<Op> {
    context at(*this);
    ++answers_run_;
    detail::answer(coarse_.op_, a.question, a.result, at);
  }

  /// What `after` and `answer` get: the worker they run on, and a way to send on. A message to
  /// an own cell joins a later group, so no operator runs inside another's `after`.
  class context {
   public:
    explicit context(lane& l) : lane_(l) {}
    [[nodiscard]] worker_t worker() const noexcept { return lane_.worker_; }
    void operator()(const message& m) { lane_.send_on(m); }

   private:
    lane& lane_;
  };

  /// Runs what is grouped; ends the lane.
  void finish() {
    if constexpr (How::in_groups) run_group();
    run_waiting();
    auto& counters = coarse_.world_.counters();
    counters.add(worker_, obs::counter::operators, operators_);
    counters.add(worker_, obs::counter::operators_failed, operators_ - took_effect_);
    if constexpr (!How::in_sections) {
      counters.add(worker_, obs::counter::activities, operators_);
    }
    state_.pace.operators_run += operators_;
    if constexpr (!Alone) counters.add(worker_, obs::counter::messages_filtered, filtered_);
    if constexpr (returns) counters.add(worker_, obs::counter::answers, answers_run_);
  }

 private:
  static constexpr bool returns = fire_and_return<Op>;
  static constexpr std::size_t measured_group = 64;
  using group_results = std::array<run_of<Op>, max_grain>;

  void send(const message& m) {
    if constexpr (filtered<Op>) {
      auto& filter = state_.filter;
      if (filter.enabled() && !filter.passes(coarse_.op_, coarse_.op_.cell(m), m)) {
        ++filtered_;
        return;
      }
    }
    (*sender_)(shape<Op>::owner(coarse_.op_, m), m);
  }

  [[gnu::always_inline]] void offer(const message& m, rank_t from) {
    if (!shape<Op>::wanted(coarse_.op_, m)) {
      if constexpr (returns) answer(from, {m, {}});
      return;
    }
    if constexpr (How::in_groups) {
      if constexpr (returns) spawners_[grouped_] = from;
      group_[grouped_++] = m;
      if (grouped_ == room_) run_group();
    } else {
      settle(m, from, How::one(coarse_, state_, coarse_.op_, m));
    }
  }

  // What follows an attempt, outside of it.
  [[gnu::always_inline]] void settle(const message& m, rank_t from, const run_of<Op>& ran) {
    if constexpr (multi_cell<Op>) {
      if (ran.marked) [[unlikely]]
        return coarse_.park(worker_, m, from);
    }
    const auto& result = ran.result;
    ++operators_;
    if (detail::done(result)) {
      ++took_effect_;
      context at(*this);
      detail::after(coarse_.op_, m, result, at);
    }
    if constexpr (returns) answer(from, {m, result});
  }

  // To the spawner: this lane, or by message.
  void answer(rank_t to, const answer_to<Op>& a) requires fire_and_return<Op> {
    if (Alone || to == coarse_.world_.rank()) {
      answered(a);
    } else {
      (*answers_)(to, a);
    }
  }

  void run_group() {
    const auto n = std::exchange(grouped_, 0);
    if (n == 0) return;
    group_results results;
    if (measured_) [[unlikely]] {
      run_measured(n, results);
    } else {
      run_activity(0, n, results);
    }
    settle_first(n, results);
  }

  void settle_first(std::size_t n, const group_results& ran) {
    for (std::size_t i = 0; i < n; ++i) settle(group_[i], returns ? spawners_[i] : 0, ran[i]);
  }

  // As many activities as it takes, one after another. What has run when an operator throws is
  // settled as if there were no group; not in the handler, in which a fiber may not switch.
  void run_measured(std::size_t n, group_results& ran) {
    auto& clock = coarse_.world_.clock();
    const auto since = clock.now_ns();
    std::exception_ptr thrown;
    std::size_t done = 0;
    try {
      for (; done < n; done = std::min(done + grain_, n)) {
        run_activity(done, std::min(done + grain_, n), ran);
      }
    } catch (...) {
      thrown = std::current_exception();
    }
    state_.pace.measured.ns += clock.now_ns() - since;
    state_.pace.measured.operators += done;
    if (!thrown) return;
    settle_first(done, ran);
    std::rethrow_exception(thrown);
  }

  // One transaction re-checks and writes the elements of a whole group. What hardware gives
  // up on is done one by one: single cells by atomics, which transactions notice, several
  // under the domain's fallback lock, which transactions have read. What software gives up on
  // runs in a transaction that is never left.
  void run_activity(std::size_t begin, std::size_t end, group_results& ran) {
    if constexpr (!How::in_sections) {
      for (auto i = begin; i < end; ++i) ran[i] = How::one(coarse_, state_, coarse_.op_, group_[i]);
    } else {
      run_section(begin, end, ran);
    }
  }

  void run_section(std::size_t begin, std::size_t end, group_results& ran) {
    const auto& op = coarse_.op_;
    // By value: what a transaction captures by reference it loads again for each operator.
    auto body = [&op, group = group_.data(), ran = ran.data()](auto access, std::size_t first,
                                                               std::size_t last) {
      for (auto i = first; i < last; ++i) ran[i] = shape<Op>::run(op, access, group[i]);
    };
    auto pretouch = [&](std::size_t first, std::size_t last) {
      for (auto i = first; i < last; ++i) {
        shape<Op>::each_cell(op, group_[i],
                             [](void* at, std::size_t bytes) { hw::touch_pages(at, bytes); });
      }
    };
    auto& runner = How::runner(state_);
    std::size_t sections = 0;
    if constexpr (single_cell<Op>) {
      auto one_by_one = [&](std::size_t first, std::size_t last) {
        body(tm::atomic_access{}, first, last);
      };
      sections = runner.run_group(tm::unsubscribed{}, begin, end, body, one_by_one, pretouch);
    } else if constexpr (std::is_same_v<How, by_stm>) {
      auto alone = [&](std::size_t first, std::size_t last) {
        body(runner.hardware().cell_access(), first, last);
      };
      sections = runner.run_group(tm::unsubscribed{}, begin, end, body, alone, pretouch);
    } else {
      auto& lock = coarse_.domain_->fallback();
      auto locked = [&](std::size_t first, std::size_t last) {
        coarse_.domain_->count_fallback(worker_);
        const tm::fallback_lock::guard held(lock, coarse_.relax());
        body(tm::section_access{}, first, last);
      };
      sections = runner.run_group(tm::subscribed(lock), begin, end, body, locked, pretouch);
      coarse_.domain_->count_sections(worker_, sections);
    }
    coarse_.world_.counters().add(worker_, obs::counter::activities, sections);
  }

  void send_on(const message& m) {
    if (Alone || shape<Op>::is_here(coarse_.op_, m)) {
      state_.waiting.push_back(m);
    } else {
      send(m);
    }
  }

  // Last in, first out: what waits stays short where each operator sends on a few messages.
  void run_waiting() {
    auto& waiting = state_.waiting;
    while (!waiting.empty()) {
      const auto m = waiting.back();
      waiting.pop_back();
      offer(m, coarse_.world_.rank());
      if constexpr (How::in_groups) {
        if (waiting.empty()) run_group();
      }
    }
  }

  Coarse& coarse_;
  worker_state<Op>& state_;
  const std::size_t grain_;
  const bool measured_;
  const std::size_t room_;  // in a group
  const worker_t worker_;
  std::size_t grouped_ = 0;
  std::uint64_t operators_ = 0, took_effect_ = 0, filtered_ = 0, answers_run_ = 0;
  std::optional<typename am::channel<message>::sender> sender_;
  std::array<message, How::in_groups ? max_grain : 1> group_;
  [[no_unique_address]] detail::answer_sender_of<Op> answers_;
  std::array<rank_t, How::in_groups && returns ? max_grain : 1> spawners_;
};

}  // namespace cairn::activity
