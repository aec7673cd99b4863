// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/sections.hpp>
#include <cairn/am/channel.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/lock_table.hpp>

namespace cairn::activity {

template <single_cell Op>
class coarse;

// How a lane commits: one at a time by an access, or in groups by sections.

struct by_plain_access {
  static constexpr bool in_groups = false;
  template <class Value, class Coarse, class F>
  [[gnu::always_inline]] static bool one(Coarse&, Value& cell, F&& f) {
    return f(tm::cell_ref<Value, tm::plain_access>(cell));
  }
};
struct by_atomics {
  static constexpr bool in_groups = false;
  template <class Value, class Coarse, class F>
  [[gnu::always_inline]] static bool one(Coarse&, Value& cell, F&& f) {
    return f(tm::cell_ref<Value, tm::atomic_access>(cell));
  }
};
struct by_locks {
  static constexpr bool in_groups = false;
  template <class Value, class Coarse, class F>
  static bool one(Coarse& c, Value& cell, F&& f) {
    const tm::lock_table::guard held(c.locks(), &cell, relax_in{&c.pool()});
    return f(tm::cell_ref<Value, tm::section_access>(cell));
  }
};
struct by_sections {
  static constexpr bool in_groups = true;
  static auto& runner(auto& worker_state) { return *worker_state.rtm; }
};
struct by_emulated_sections {
  static constexpr bool in_groups = true;
  static auto& runner(auto& worker_state) { return *worker_state.emulated; }
};

/// One worker's way into a coarse operator for the length of a chunk or a span, compiled for
/// one mechanism. `Alone`: there is one rank, so every cell is here.
template <class Op, class How, bool Alone>
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
    if constexpr (How::in_groups) run_group();
    if constexpr (in_context<Op>) run_waiting();
    auto& counters = coarse_.world_.counters();
    counters.add(worker_, obs::counter::operators, operators_);
    counters.add(worker_, obs::counter::operators_failed, operators_ - took_effect_);
    if constexpr (!How::in_groups) {
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
    if constexpr (How::in_groups) {
      group_[grouped_++] = m;
      if (grouped_ == grain_) run_group();
    } else {
      ++operators_;
      const auto& op = coarse_.op_;
      if (How::one(coarse_, cell, [&](auto ref) { return attempt(op, ref, m); })) {
        ++took_effect_;
        after(m);
      }
    }
  }

  // One transaction re-checks and writes the cells of the whole group; what hardware gives up
  // on is done by atomics, one by one.
  void run_group() {
    const auto n = std::exchange(grouped_, 0);
    if (n == 0) return;
    const auto& op = coarse_.op_;
    const auto cell_of = [&](std::size_t i) -> value& { return op.cell(group_[i]).here(); };
    std::array<bool, max_grain> took;
    auto body = [&](auto access, std::size_t first, std::size_t last) {
      for (auto i = first; i < last; ++i) {
        took[i] = attempt(op, tm::cell_ref<value, decltype(access)>(cell_of(i), access), group_[i]);
      }
    };
    auto fallback = [&](std::size_t first, std::size_t last) {
      for (auto i = first; i < last; ++i) {
        took[i] = attempt(op, tm::cell_ref<value, tm::atomic_access>(cell_of(i)), group_[i]);
      }
    };
    auto pretouch = [&](std::size_t first, std::size_t last) {
      for (auto i = first; i < last; ++i) hw::touch_pages(&cell_of(i), sizeof(value));
    };
    auto& counters = coarse_.world_.counters();
    const auto sections =
        How::runner(state_).run_group(tm::unsubscribed{}, 0, n, body, fallback, pretouch);
    counters.add(worker_, obs::counter::activities, sections);
    operators_ += n;
    for (std::size_t i = 0; i < n; ++i) {
      if (!took[i]) continue;
      ++took_effect_;
      after(group_[i]);
    }
  }

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
      if constexpr (How::in_groups) {
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
  std::array<message, How::in_groups ? max_grain : 1> group_;
};

}  // namespace cairn::activity
