// SPDX-License-Identifier: Apache-2.0
#pragma once

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

struct by_plain_access {
  static constexpr bool in_groups = false, in_sections = false;
  template <class Op>
  [[gnu::always_inline]] static run_of<Op> one(auto&, auto&, const Op& op,
                                               const typename Op::message& m) {
    return shape<Op>::run(op, tm::plain_access{}, m);
  }
};
struct by_atomics {
  static constexpr bool in_groups = false, in_sections = false;
  template <class Op>
  [[gnu::always_inline]] static run_of<Op> one(auto&, auto&, const Op& op,
                                               const typename Op::message& m) {
    return shape<Op>::run(op, tm::atomic_access{}, m);
  }
};
struct by_locks {
  static constexpr bool in_groups = false, in_sections = false;
  template <class Op>
  static run_of<Op> one(auto& coarse, auto& state, const Op& op, const typename Op::message& m) {
    if constexpr (single_cell<Op>) {
      const tm::lock_table::guard held(coarse.locks(), &op.cell(m).here(), coarse.relax());
      return shape<Op>::run(op, tm::section_access{}, m);
    }
    auto& set = *state.locks;
    shape<Op>::each_cell(op, m, [&](const void* cell, std::size_t) { set.add(cell); });
    set.lock(coarse.relax());
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
struct by_one_lock {
  static constexpr bool in_groups = false, in_sections = false;
  template <class Op>
  static run_of<Op> one(auto& coarse, auto&, const Op& op, const typename Op::message& m) {
    const tm::fallback_lock::guard held(coarse.one_lock(), coarse.relax());
    return shape<Op>::run(op, tm::section_access{}, m);
  }
};
struct by_sections {
  static constexpr bool in_groups = true, in_sections = true;
  static auto& runner(auto& state) { return *state.rtm; }
};
struct by_emulated_sections {
  static constexpr bool in_groups = true, in_sections = true;
  static auto& runner(auto& state) { return *state.emulated; }
};
struct by_stm {
  static constexpr bool in_groups = true, in_sections = true;
  static auto& runner(auto& state) { return *state.software; }
};

// One at a time, yet in groups, so that a whole group can be timed. One for both kinds of
// atomics, and one for both of locks: what is chosen once for each operator needs no lane of its
// own.

/// Emulated transactions do not notice others, as hardware does, so atomics run outside of them.
struct by_atomics_in_turn {
  static constexpr bool in_groups = true, in_sections = false;
  template <class Op>
  static run_of<Op> one(auto&, auto& state, const Op& op, const typename Op::message& m) {
    if (!state.emulated) return shape<Op>::run(op, tm::atomic_access{}, m);
    run_of<Op> ran;
    state.emulated->hardware().outside([&] { ran = shape<Op>::run(op, tm::atomic_access{}, m); });
    return ran;
  }
};
struct by_locks_in_turn {
  static constexpr bool in_groups = true, in_sections = false;
  template <class Op>
  static run_of<Op> one(auto& coarse, auto& state, const Op& op, const typename Op::message& m) {
    return state.one_lock ? by_one_lock::one(coarse, state, op, m)
                          : by_locks::one(coarse, state, op, m);
  }
};

}  // namespace cairn::activity
