// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

#include <cairn/activity/commit.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/tuner.hpp>
#include <cairn/activity/worker_state.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/fallback_lock.hpp>

namespace cairn::activity {

/// N places for a T that hold nothing yet: to make them all would cost a lane, or a group of one
/// message, more than to run it.
template <class T, std::size_t N>
class room_for {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(bytes_.data()); }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }

 private:
  alignas(T) std::array<std::byte, N * sizeof(T)> bytes_;
};

/// The messages of a lane that wait to be run together, and how they are: in one activity of at
/// most M. Of a measured lane the time is taken, of at least 64 operators each time: so a
/// clock costs nothing even if their transactions are short. Where nothing runs in groups, that is
/// its first operators only: they stand for the rest, which needs no waiting.
template <class Coarse, class How>
class group {
 public:
  using Op = typename Coarse::operator_type;
  using message = typename Op::message;

  group(Coarse& c, worker_state<Op>& state, const tuner::step& by)
      : coarse_(c),
        state_(state),
        grain_(by.way.grain),
        measured_(by.measured),
        room_(measured_ ? std::max(grain_, measured_group) : grain_) {}

  [[nodiscard]] bool measured() const noexcept { return measured_; }

  /// One more message, which rank `from` has spawned. True if it is time to run.
  [[gnu::always_inline]] bool add(const message& m, rank_t from) {
    if constexpr (fire_and_return<Op>) spawners_[size_] = from;
    messages_[size_++] = m;
    return size_ == room_;
  }

  /// Runs what waits, then calls settle(message, from, ran) for each. When an operator of a
  /// measured group throws, what had run before its own group is settled, outside the handler, in
  /// which a fiber may not switch; of its own group nothing is, not even what a transaction that
  /// was split had committed.
  template <class Settle>
  void run(Settle settle) {
    const auto n = std::exchange(size_, 0);
    if (n == 0) return;
    results ran;
    std::exception_ptr thrown;
    const auto done = run_all(n, ran, thrown);
    for (std::size_t i = 0; i < done; ++i) {
      settle(messages_[i], fire_and_return<Op> ? spawners_[i] : 0, ran[i]);
    }
    if (thrown) [[unlikely]]
      std::rethrow_exception(thrown);
  }

 private:
  static constexpr std::size_t measured_group = 64;
  static constexpr std::size_t capacity = How::in_groups ? max_grain : 1;
  using results = room_for<run_of<Op>, capacity>;

  // Returns how many have run.
  std::size_t run_all(std::size_t n, results& ran, std::exception_ptr& thrown) {
    if (!measured_) [[likely]] {
      run_activity(0, n, ran);
      return n;
    }
    auto& clock = coarse_.world_.clock();
    const auto since = clock.now_ns();
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
    measured_ = How::in_sections;
    return done;
  }

  // One transaction re-checks and writes the elements of a whole group. What hardware gives
  // up on is done one by one: single cells by atomics, which transactions notice, several
  // under the domain's fallback lock, which transactions have read. What software gives up on
  // runs in a transaction that is never left.
  void run_activity(std::size_t begin, std::size_t end, results& ran) {
    if constexpr (How::in_sections) {
      run_section(begin, end, ran);
    } else {
      for (auto i = begin; i < end; ++i) {
        ran[i] = How::one(coarse_, state_, coarse_.op_, messages_[i]);
      }
    }
  }

  void run_section(std::size_t begin, std::size_t end, results& ran_) {
    const auto& op = coarse_.op_;
    // By value: what a transaction captures by reference it loads again for each operator.
    auto body = [&op, messages = messages_.data(), ran = ran_.data()](
                    auto access, std::size_t first, std::size_t last) {
      for (auto i = first; i < last; ++i) ran[i] = shape<Op>::run(op, access, messages[i]);
    };
    auto pretouch = [&](std::size_t first, std::size_t last) {
      for (auto i = first; i < last; ++i) {
        shape<Op>::each_cell(op, messages_[i],
                             [](void* at, std::size_t bytes) { hw::touch_pages(at, bytes); });
      }
    };
    auto& runner = How::runner(state_);
    auto& world = coarse_.world_;
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
      auto& domain = *coarse_.domain_;
      auto locked = [&](std::size_t first, std::size_t last) {
        domain.count_fallback(state_.worker);
        const tm::fallback_lock::guard held(domain.fallback(), coarse_.relax());
        coarse_.count_waits(state_, held.waited());
        body(tm::section_access{}, first, last);
      };
      sections =
          runner.run_group(tm::subscribed(domain.fallback()), begin, end, body, locked, pretouch);
      domain.count_sections(state_.worker, sections);
    }
    world.counters().add(state_.worker, obs::counter::activities, sections);
  }

  Coarse& coarse_;
  worker_state<Op>& state_;
  const std::size_t grain_;
  bool measured_;  // from now on
  const std::size_t room_;
  std::size_t size_ = 0;
  room_for<message, capacity> messages_;
  room_for<rank_t, fire_and_return<Op> ? capacity : 1> spawners_;
};

}  // namespace cairn::activity
