// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/activity/sections.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/fallback_lock.hpp>
#include <cairn/tm/lock_table.hpp>

namespace cairn::activity {

// How a lane commits: one at a time by an access, or in groups by sections.
//
//   in_groups     messages wait until a group is full, or the lane ends
//   in_sections   a group is a transaction
//   for_speed     worth a lane compiled for one rank alone, beside that for any number

struct by_plain_access {
  static constexpr bool in_groups = false, in_sections = false, for_speed = true;
  template <class Op>
  [[gnu::always_inline]] static run_of<Op> one(auto&, auto&, const Op& op,
                                               const typename Op::message& m) {
    return shape<Op>::run(op, tm::plain_access{}, m);
  }
};
struct by_atomics {
  static constexpr bool in_groups = false, in_sections = false, for_speed = true;
  template <class Op>
  [[gnu::always_inline]] static run_of<Op> one(auto&, auto&, const Op& op,
                                               const typename Op::message& m) {
    return shape<Op>::run(op, tm::atomic_access{}, m);
  }
};
struct by_sections {
  static constexpr bool in_groups = true, in_sections = true, for_speed = true;
  static auto& runner(auto& state) { return *state.rtm; }
};
struct by_emulated_sections {
  static constexpr bool in_groups = true, in_sections = true, for_speed = false;
  static auto& runner(auto& state) { return *state.emulated; }
};
struct by_stm {
  static constexpr bool in_groups = true, in_sections = true, for_speed = false;
  static auto& runner(auto& state) { return *state.software; }
};

struct by_locks {
  static constexpr bool in_groups = false, in_sections = false, for_speed = true;
  template <class Op>
  [[gnu::always_inline]] static run_of<Op> one(auto& coarse, auto& state, const Op& op,
                                               const typename Op::message& m) {
    if constexpr (single_cell<Op>) {
      const tm::lock_table::guard held(coarse.locks(), &op.cell(m).here(), coarse.relax());
      coarse.count_waits(state, held.waited());
      return shape<Op>::run(op, tm::section_access{}, m);
    }
    auto& set = *state.locks;
    shape<Op>::each_cell(op, m, [&](const void* cell, std::size_t) { set.add(cell); });
    coarse.count_waits(state, set.lock(coarse.relax()));
    const unlock_at_end held{set};
    coarse.count_locks(state, set.size());
    return shape<Op>::run(op, tm::section_access{}, m);
  }

 private:
  struct unlock_at_end {
    tm::lock_set& set;
    ~unlock_at_end() { set.unlock(); }
  };
};

/// What is chosen once for each operator needs no lane of its own: one lock, and whatever runs one
/// at a time while its time is taken; in groups only then, so that a whole group can be timed.
struct by_turn {
  static constexpr bool in_groups = true, in_sections = false, for_speed = false;

  template <class Op>
  static run_of<Op> one(auto& coarse, auto& state, const Op& op, const typename Op::message& m) {
    if (state.turns == mechanism::one_lock) {
      const tm::fallback_lock::guard held(coarse.one_lock(), coarse.relax());
      coarse.count_waits(state, held.waited());
      return shape<Op>::run(op, tm::section_access{}, m);
    }
    if constexpr (multi_cell<Op>) {
      return by_locks::one(coarse, state, op, m);
    } else {
      return by_either_atomics(state, op, m);
    }
  }

 private:
  // Emulated transactions do not notice others, as hardware does, so atomics run outside of them.
  template <class Op>
  static run_of<Op> by_either_atomics(auto& state, const Op& op, const typename Op::message& m) {
    if (!state.emulated) return shape<Op>::run(op, tm::atomic_access{}, m);
    run_of<Op> ran;
    state.emulated->hardware().outside([&] { ran = shape<Op>::run(op, tm::atomic_access{}, m); });
    return ran;
  }
};

}  // namespace cairn::activity
