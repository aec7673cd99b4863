// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <cairn/activity/batch.hpp>
#include <cairn/activity/executor_parts.hpp>
#include <cairn/activity/shape.hpp>
#include <cairn/activity/sieve.hpp>
#include <cairn/am/ticket.hpp>

namespace cairn::activity {

/// Where a lane finds elements: all here, on several ranks, or at one worker of any rank.
enum class reach { alone, ranks, workers };

/// One worker's access to an executor during a chunk or a span. Messages to elements of this rank
/// join a batch by `Commit`; others are sent to their owner. With `alone` the lane is compiled for
/// one rank, where every element is local. With `workers` messages to elements of other workers of
/// this rank are sent, too.
template <class Op, class Commit, reach Reach>
class lane {
  static constexpr bool Alone = Reach == reach::alone, to_workers = Reach == reach::workers;
  static constexpr bool prefilters = prefiltered<Op> && Commit::prefilters;

 public:
  using message = typename Op::message;
  using parts = executor_parts<Op>;

  lane(parts& all, worker_t k, Commit commit, std::size_t grain)
      : all_(all),
        state_(all.workers[k]),
        worker_(k),
        op_(all.op),
        batch_(commit, state_.rooms, grain) {
    if constexpr (to_workers) {
      if constexpr (filtered<Op>) {
        state_.filter.enter(all.w.messages().epoch());
        uses_filter_ = state_.filter.enabled();
      }
    } else if constexpr (!Alone) {
      sender_.emplace(*all.out, k);
      if constexpr (returns) answers_.emplace(*all.out, k);
      if constexpr (filtered<Op>) {
        state_.filter.enter(all.w.messages().epoch());
        uses_filter_ = state_.filter.enabled() && state_.filter_use.uses_filter();
        sent_before_ = all.out->count(k).sent();
      }
    }
  }
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// Sends m to the owner of its element.
  [[gnu::always_inline]] void operator()(const message& m) {
    if constexpr (!Alone) {
      ++looked_up_;
      if (!shape<Op>::is_here(op_, m)) {
        send(m);
        return;
      }
      if constexpr (to_workers) {
        if (!is_own(m)) return pass(m);
      }
    }
    offer(m, own_origin());
  }

  /// operator() for loops in which the branch on `wanted` is predictable, or few messages are
  /// wanted at a time: on one rank m does not wait for others.
  [[gnu::always_inline]] void at_once(const message& m) {
    if constexpr (prefilters && Alone) {
      if (shape<Op>::wanted(op_, m)) settle(m, {}, batch_.one(op_, m));
    } else {
      (*this)(m);
    }
  }

  /// operator() for a loop. While the object exists nothing else uses the lane. It keeps the
  /// number of messages in the sieve in a register: in memory it would delay each message until the
  /// previous one is added.
  class in_loop {
    static constexpr bool sifts = prefilters && Alone;

   public:
    using is_short = std::bool_constant<sifts>;  // the code per message: see traverse::short_body

    explicit in_loop(lane& l) : lane_(l), op_(l.op_), held_(l.held_) {}
    ~in_loop() {
      if constexpr (sifts) lane_.held_ = held_;
    }
    in_loop(const in_loop&) = delete;
    in_loop& operator=(const in_loop&) = delete;

    [[gnu::always_inline]] void operator()(const message& m) {
      if constexpr (!sifts) {
        lane_(m);
      } else {
        held_ = lane_.sieve_.add(held_, m, shape<Op>::wanted(op_, m));
        if (held_ == lane_.sieve_.capacity) [[unlikely]]
          drain();
      }
    }

   private:
    // Inlined, so that this object stays in registers.
    [[gnu::always_inline]] void drain() {
      lane_.held_ = std::exchange(held_, 0);
      lane_.run_prefiltered();
    }

    lane& lane_;
    const Op op_;
    std::size_t held_;
  };

  /// Runs the operator of m at once, without `after`. Returns whether it succeeded. For a loop that
  /// itself does what would follow.
  [[nodiscard]] [[gnu::always_inline]] bool succeeds(const message& m) requires(
      prefilters&& Alone) {
    if (!shape<Op>::wanted(op_, m)) return false;
    const bool done = detail::done(batch_.one(op_, m).result);
    ++operators_;
    failed_ += done ? 0 : 1;
    return done;
  }

  /// Accepts a message that another rank spawned, or one that was parked.
  void arrived(const message& m, const origin<Op>& from) { offer(m, from); }

  /// Accepts the answer to a message that this worker sent.
  void answered(am::ticket to, const result_t<Op>& result) requires fire_and_return<Op> {
    answer_here(state_.unanswered.take(to.number()), result);
  }

  /// The context passed to `after` and `answer`: the current worker, and a way to send messages. A
  /// message to a cell of this rank joins a later group, so no operator runs inside another
  /// operator's `after`.
  class context {
   public:
    explicit context(lane& l) : lane_(l) {}
    [[nodiscard]] worker_t worker() const noexcept { return lane_.worker_; }
    void operator()(const message& m) {
      static_assert(!silent<Op>, "this operator sends: remove `sends = false`");
      lane_.send_on(m);
    }

   private:
    lane& lane_;
  };

  /// Runs the pending group and those that follow from it.
  void flush() {
    if constexpr (Commit::collects) run_group();
    if constexpr (prefilters) run_prefiltered();
    run_waiting();
  }
  /// flush(), and ends the lane. Returns the number of operators that ran.
  std::uint64_t finish() {
    flush();
    auto& counters = all_.w.counters();
    counters.add(worker_, obs::counter::operators, operators_);
    counters.add(worker_, obs::counter::operators_failed, failed_);
    const auto activities = batch_.transactional() ? batch_.activities() : operators_;
    counters.add(worker_, obs::counter::activities, activities);
    if constexpr (!Alone) {
      counters.add(worker_, obs::counter::messages_filtered, filtered_);
      if constexpr (filtered<Op> && !combining<Op> && !to_workers) choose_filter();
      counters.add(worker_, obs::counter::lookups, looked_up_);
    }
    if constexpr (returns) counters.add(worker_, obs::counter::answers, answers_run_);
    return operators_;
  }

 private:
  static constexpr bool returns = fire_and_return<Op>;

  // Reports to filter_choice how many of this lane's messages the filter dropped.
  void choose_filter() {
    if (!state_.filter.enabled() || !all_.w.options().filter_is_chosen) return;
    const auto sent = all_.out->count(worker_).sent() - sent_before_;
    if (!state_.filter_use.done({.offered = sent + filtered_, .dropped = filtered_})) return;
    const bool uses = state_.filter_use.uses_filter();
    all_.w.trace().note(worker_, obs::trace_kind::choice, uses ? "uses the filter" : "no filter");
  }

  [[nodiscard]] worker_t worker_of(const message& m) const {
    if constexpr (to_workers) return worker_of_block(op_.cell(m).id, all_.w.workers());
    return worker_;
  }
  // Whether this worker runs the operator of an element of this rank.
  [[nodiscard]] bool is_own(const message& m) const { return worker_of(m) == worker_; }
  void send_to_worker(rank_t owner, const message& m) {
    all_.senders[worker_][static_cast<std::size_t>(worker_of(m))](owner, m);
  }
  // To another worker of this rank.
  void pass(const message& m) {
    if (shape<Op>::wanted(op_, m)) send_to_worker(all_.w.rank(), m);
  }

  void send(const message& m) {
    if constexpr (combining<Op> && !to_workers) {
      if (sender_->offers()) {
        sender_->offer(m);
        return;
      }
    } else if constexpr (filtered<Op>) {
      if (uses_filter_ && !state_.filter.passes(all_.op, all_.op.cell(m), m)) {
        ++filtered_;
        return;
      }
    }
    const auto owner = shape<Op>::owner(all_.op, m);
    if constexpr (to_workers) {
      send_to_worker(owner, m);
    } else if constexpr (returns) {
      (*sender_)(owner, m, am::slot(state_.unanswered.put(m)));
    } else {
      (*sender_)(owner, m);
    }
  }

  [[gnu::always_inline]] void offer(const message& m, const origin<Op>& from) {
    if constexpr (!Alone) shape<Op>::expect_here(op_, m);
    if constexpr (prefilters) {
      held_ = sieve_.add(held_, m, shape<Op>::wanted(op_, m));
      if (held_ == sieve_.capacity) [[unlikely]]
        run_prefiltered();
      return;
    }
    if (!shape<Op>::wanted(op_, m)) {
      if constexpr (returns) answer(from, m, {});
      return;
    }
    if constexpr (Commit::collects) {
      if (batch_.add(m, from)) run_group();
    } else {
      settle(m, from, batch_.one(op_, m));
    }
  }

  // The effect of one message may make a later one unwanted: the attempt checks again.
  [[gnu::noinline]] void run_prefiltered() {
    for (const auto& m : sieve_.messages(std::exchange(held_, 0))) {
      settle(m, {}, batch_.one(op_, m));
    }
  }

  // The steps after an attempt, outside any activity.
  [[gnu::always_inline]] void settle(const message& m, const origin<Op>& from,
                                     const run_of<Op>& ran) {
    if constexpr (multi_cell<Op>) {
      if (ran.marked) [[unlikely]]
        return all_.park(worker_, m, from);
    }
    const auto& result = ran.result;
    ++operators_;
    if (detail::done(result)) {
      context at(*this);
      detail::after(all_.op, m, result, at);
    } else {
      ++failed_;
    }
    if constexpr (returns) answer(from, m, result);
  }

  // The origin of a message spawned on this rank.
  [[nodiscard]] static origin<Op> own_origin() noexcept {
    if constexpr (returns) return {-1, {}};
    return {};
  }

  // Passes the result to the spawner: directly in this lane, or as a message.
  void answer(const origin<Op>& to, const message& m,
              const result_t<Op>& result) requires fire_and_return<Op> {
    if (Alone || to.rank < 0) {
      answer_here(m, result);
    } else {
      (*answers_)(to.rank, to.ticket, result);
    }
  }
  void answer_here(const message& m, const result_t<Op>& result) requires fire_and_return<Op> {
    context at(*this);
    ++answers_run_;
    detail::answer(all_.op, m, result, at);
  }

  void run_group() {
    batch_.run(op_, [this](const message& m, const origin<Op>& from, const run_of<Op>& ran) {
      settle(m, from, ran);
    });
  }

  void send_on(const message& m) {
    if (!Alone && !shape<Op>::is_here(op_, m)) return send(m);
    if constexpr (to_workers) {
      if (!is_own(m)) return pass(m);
    }
    state_.waiting.push_back(m);
  }

  // Last in, first out, which keeps the list short if each operator sends only a few messages.
  void run_waiting() {
    auto& waiting = state_.waiting;
    while (!waiting.empty()) {
      const auto m = waiting.back();
      waiting.pop_back();
      offer(m, own_origin());
      if (!waiting.empty()) continue;
      if constexpr (Commit::collects) run_group();
      if constexpr (prefilters) run_prefiltered();
    }
  }

  parts& all_;
  typename parts::worker_state& state_;
  const worker_t worker_;
  const Op op_;  // a copy: see operator.hpp
  std::uint64_t operators_ = 0, failed_ = 0, answers_run_ = 0;
  struct nothing {};
  [[no_unique_address]] std::conditional_t<prefilters, sieve<message>, nothing> sieve_;
  std::size_t held_ = 0;  // messages of sieve_
  std::uint64_t looked_up_ = 0, filtered_ = 0, sent_before_ = 0;
  bool uses_filter_ = false;
  std::optional<typename parts::message_path::sender> sender_;
  [[no_unique_address]] typename parts::message_path::answerer answers_;
  batch<Op, Commit> batch_;
};

}  // namespace cairn::activity
