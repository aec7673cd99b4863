// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/lock_table.hpp>

namespace cairn::activity {

template <single_cell Op>
class coarse;

/// One worker's way into a coarse operator for the length of a chunk or a span, compiled for
/// one mechanism. `Alone`: there is one rank, so every cell is here.
template <class Op, mechanism How, bool Alone>
class lane {
 public:
  using message = typename Op::message;
  using value = cell_value_t<Op>;

  lane(coarse<Op>& c, worker_t k)
      : coarse_(c), state_(c.workers_[k]), grain_(c.grain_), worker_(k) {
    if constexpr (!Alone) {
      sender_.emplace(*c.channel_, k);
      state_.filter.enter(c.world_.messages().epoch());
    }
  }
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// Sends m to the owner of its cell.
  [[gnu::always_inline]] void operator()(const message& m) {
    const auto where = coarse_.op_.cell(m);
    if constexpr (!Alone) {
      if (!where.map->owns(where.id)) {
        send(where, m);
        return;
      }
    }
    offer(where.here(), m);
  }

  /// Takes in a message that has come from another rank.
  void arrived(const message& m) { offer(coarse_.op_.cell(m).here(), m); }

  /// What `after` gets: the worker it runs on, and a way to send on. A message to an own cell
  /// joins a later group, so no operator runs inside another's `after`.
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
    if constexpr (How == mechanism::htm) run_group();
    if constexpr (in_context<Op>) run_waiting();
    auto& counters = coarse_.world_.counters();
    counters.add(worker_, obs::counter::operators, operators_);
    counters.add(worker_, obs::counter::operators_failed, operators_ - took_effect_);
    if constexpr (How != mechanism::htm) {
      counters.add(worker_, obs::counter::activities, operators_);
    }
    if constexpr (!Alone) counters.add(worker_, obs::counter::messages_filtered, filtered_);
  }

 private:
  void send(const auto& where, const message& m) {
    if (state_.filter.enabled() && !state_.filter.passes(coarse_.op_, where, m)) {
      ++filtered_;
      return;
    }
    (*sender_)(where.owner(), m);
  }

  [[gnu::always_inline]] void offer(value& cell, const message& m) {
    if (!coarse_.op_.wanted(tm::cell_ref<value, tm::plain_access>(cell).load(), m)) return;
    if constexpr (How == mechanism::htm) {
      group_[grouped_++] = m;
      if (grouped_ == grain_) run_group();
    } else {
      ++operators_;
      if (attempt_alone(cell, m)) {
        ++took_effect_;
        after(m);
      }
    }
  }

  [[gnu::always_inline]] bool attempt_alone(value& cell, const message& m) {
    const auto& op = coarse_.op_;
    if constexpr (How == mechanism::plain) {
      return attempt(op, tm::cell_ref<value, tm::plain_access>(cell), m);
    } else if constexpr (How == mechanism::locks) {
      const tm::lock_table::guard held(
          *coarse_.locks_, &cell, [this](unsigned rounds) { coarse_.world_.pool().relax(rounds); });
      return attempt(op, tm::cell_ref<value, tm::section_access>(cell), m);
    } else {
      return attempt(op, tm::cell_ref<value, tm::atomic_access>(cell), m);
    }
  }

  void run_group();

  void after(const message& m) {
    if constexpr (in_context<Op>) {
      context at(*this);
      coarse_.op_.after(m, at);
    } else if constexpr (requires { coarse_.op_.after(m); }) {
      coarse_.op_.after(m);
    }
  }

  void send_on(const message& m) {
    if constexpr (!Alone) {
      const auto where = coarse_.op_.cell(m);
      if (!where.map->owns(where.id)) {
        send(where, m);
        return;
      }
    }
    state_.waiting.push_back(m);
  }

  // Last in, first out: what waits stays short where each operator sends on a few messages.
  void run_waiting() {
    auto& waiting = state_.waiting;
    while (!waiting.empty()) {
      const auto m = waiting.back();
      waiting.pop_back();
      offer(coarse_.op_.cell(m).here(), m);
      if constexpr (How == mechanism::htm) {
        if (waiting.empty()) run_group();
      }
    }
  }

  coarse<Op>& coarse_;
  typename coarse<Op>::worker_state& state_;
  const std::size_t grain_;
  const worker_t worker_;
  std::size_t grouped_ = 0;
  std::uint64_t operators_ = 0, took_effect_ = 0, filtered_ = 0;
  std::optional<typename am::channel<message>::sender> sender_;
  std::array<message, How == mechanism::htm ? max_grain : 1> group_;
};

}  // namespace cairn::activity
