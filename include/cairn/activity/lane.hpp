// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <cairn/activity/group.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/tuner.hpp>
#include <cairn/activity/worker_state.hpp>
#include <cairn/am/channel.hpp>

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
/// one way to commit. `Alone`: it is compiled for one rank, so that every cell is here.
template <class Coarse, class How, bool Alone>
class lane {
 public:
  using Op = typename Coarse::operator_type;
  using message = typename Op::message;

  lane(Coarse& c, worker_t k, const tuner::step& by)
      : coarse_(c), state_(c.workers_[k]), worker_(k), group_(c, state_, by) {
    if constexpr (!Alone) {
      if (!c.channel_) return;
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
      ++looked_up_;
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
    if constexpr (!Alone) {
      counters.add(worker_, obs::counter::messages_filtered, filtered_);
      if (sender_) counters.add(worker_, obs::counter::lookups, looked_up_);
    }
    if constexpr (returns) counters.add(worker_, obs::counter::answers, answers_run_);
  }

 private:
  static constexpr bool returns = fire_and_return<Op>;

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
      if (How::in_sections || group_.measured()) {
        if (group_.add(m, from)) run_group();
        return;
      }
    }
    if constexpr (!How::in_sections) settle(m, from, How::one(coarse_, state_, coarse_.op_, m));
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
    group_.run(
        [this](const message& m, rank_t from, const run_of<Op>& ran) { settle(m, from, ran); });
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
  const worker_t worker_;
  std::uint64_t operators_ = 0, took_effect_ = 0, answers_run_ = 0;
  std::uint64_t looked_up_ = 0, filtered_ = 0;
  std::optional<typename am::channel<message>::sender> sender_;
  [[no_unique_address]] detail::answer_sender_of<Op> answers_;
  group<Coarse, How> group_;
};

}  // namespace cairn::activity
