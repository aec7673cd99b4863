// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include <cairn/activity/element_access.hpp>
#include <cairn/activity/operator.hpp>
#include <cairn/am/ticket.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>
#include <cairn/tm/cell.hpp>

// The interface between the runtime and an operator (operator.hpp) of any shape and kind. Functions
// that run per message of a single-cell operator are flattened. Otherwise a compiler would inline
// the operator's functions or not depending on the number of call sites, and a call costs as much
// as the operator.

namespace cairn::activity {

namespace detail {

// Runs the attempt. An operator that always succeeds is done when the attempt returns.
template <class Op, class Data>
[[gnu::always_inline]] inline result_t<Op> attempt(const Op& op, Data&& data,
                                                   const typename Op::message& m) {
  static_assert(!noexcept(op.attempt(data, m)),
                "an attempt may be left early by the runtime: it must not be noexcept");
  using returned = decltype(op.attempt(data, m));
  static_assert(std::is_same_v<returned, typename attempt_result<Op>::type>,
                "an attempt returns the same type for every mechanism: the operator's kind");
  if constexpr (std::is_void_v<returned>) {
    op.attempt(data, m);
    return true;
  } else if constexpr (fire_and_return<Op> && kind<Op>::always_succeeds) {
    return {true, op.attempt(data, m)};
  } else {
    return op.attempt(data, m);
  }
}

// Runs whichever `after` the operator has. Compiles to nothing if it has none.
template <class Op, class At>
[[gnu::always_inline]] inline void after(Op& op, const typename Op::message& m,
                                         const result_t<Op>& result, At& at) {
  if constexpr (fire_and_return<Op>) {
    if constexpr (requires { op.after(m, result.value, at); }) {
      op.after(m, result.value, at);
    } else if constexpr (requires { op.after(m, result.value); }) {
      op.after(m, result.value);
    } else if constexpr (requires { op.after(m); }) {
      op.after(m);
    }
  } else if constexpr (requires { op.after(m, at); }) {
    op.after(m, at);
  } else if constexpr (requires { op.after(m); }) {
    op.after(m);
  }
}

template <class Op, class At>
void answer(Op& op, const typename Op::message& m, const result_t<Op>& result, At& at) {
  static_assert(
      requires { op.answer(m, result, at); } || requires { op.answer(m, result); },
      "a fire-and-return operator has answer(message, outcome<R>)");
  if constexpr (requires { op.answer(m, result, at); }) {
    op.answer(m, result, at);
  } else {
    op.answer(m, result);
  }
}

}  // namespace detail

/// The result of one run of an operator. `marked`: a distributed transaction held an element, so
/// nothing was attempted.
template <class Op>
struct run_of {
  result_t<Op> result{};
  bool marked = false;
};

/// Where the answer to a message goes: to another rank, with the question's ticket, or to this lane
/// if the rank is -1. Empty for an operator without answers.
template <class Op>
struct origin {};
template <fire_and_return Op>
struct origin<Op> {
  rank_t rank;
  am::ticket ticket;
};

/// A place whose map keeps a marker word beside each element: 0, or the name of its holder.
template <class Place>
concept marked_place = requires(const Place& where) {
  { where.map->marker(where.id) } -> std::same_as<std::uint64_t&>;
};

template <class Op>
struct shape;

template <single_cell Op>
struct shape<Op> {
  using message = typename Op::message;
  using value = cell_value_t<Op>;

  using place = decltype(std::declval<const Op&>().cell(std::declval<const message&>()));

  static_assert(!marked_place<place>,
                "a single-cell operator would not see the markers of an owned_map: "
                "name its element by `elements`");

  [[gnu::always_inline, gnu::flatten]] static bool is_here(const Op& op, const message& m) {
    const auto where = op.cell(m);
    return where.map->owns(where.id);
  }
  static rank_t owner(const Op& op, const message& m) { return op.cell(m).owner(); }
  /// A single cell has one owner, and the message was sent there.
  static void expect_here(const Op&, const message&) noexcept {}

  /// Called outside any section; may see a stale value.
  [[gnu::always_inline, gnu::flatten]] static bool wanted(const Op& op, const message& m) {
    if constexpr (selective<Op>) {
      return op.wanted(tm::load_cell(op.cell(m).element()), m);
    } else {
      static_assert(
          !requires { &Op::wanted; }, "wanted takes (value, message), returns bool");
      return true;
    }
  }

  template <class Access>
  [[gnu::always_inline, gnu::flatten]] static run_of<Op> run(const Op& op, Access access,
                                                             const message& m) {
    auto& cell = op.cell(m).element();
    if constexpr (checked && std::is_same_v<Access, tm::plain_access>) {
      const value before = cell;
      const auto result = detail::attempt(op, tm::cell_ref<value, Access>(cell, access), m);
      CAIRN_ASSERT(detail::done(result) || std::memcmp(&before, &cell, sizeof cell) == 0);
      return {result};
    }
    return {detail::attempt(op, tm::cell_ref<value, Access>(cell, access), m)};
  }

  /// Calls f(address, bytes) for each piece of memory that an attempt touches.
  template <class F>
  static void each_cell(const Op& op, const message& m, F&& f) {
    f(&op.cell(m).element(), sizeof(value));
  }
};

template <multi_cell Op>
struct shape<Op> {
  using message = typename Op::message;

  static bool is_here(const Op& op, const message& m) {
    bool first = true, here = true;  // also if there is no element: it runs where it was spawned
    op.elements(m, [&](const auto& where) {
      if (std::exchange(first, false)) here = where.map->owns(where.id);
    });
    return here;
  }
  static rank_t owner(const Op& op, const message& m) {
    rank_t to = -1;
    op.elements(m, [&](const auto& where) {
      if (to < 0) to = where.owner();
    });
    return to;
  }
  /// Throws    contract_violation if an element belongs to another rank than the first element,
  ///           whose owner makes this call
  static void expect_here(const Op& op, const message& m) {
    op.elements(m, [&](const auto& where) {
      CAIRN_EXPECTS(where.map->owns(where.id), "the elements of an activity have one owner");
    });
  }
  static bool wanted(const Op& op, const message& m) {
    if constexpr (requires { op.wanted(m); }) {
      return op.wanted(m);
    } else {
      return true;
    }
  }

  /// The mechanism reads the markers, so the check is atomic with the attempt that follows.
  template <class Access>
  static run_of<Op> run(const Op& op, Access access, const message& m) {
    bool marked = false;
    op.elements(m, [&]<class Place>(const Place& where) {
      if constexpr (marked_place<Place>) {
        marked = marked || access.load(where.map->marker(where.id)) != 0;
      }
    });
    if (marked) return {{}, true};
    element_access<Access> tx(access);
    const auto result = detail::attempt(op, tx, m);
    CAIRN_ASSERT(detail::done(result) || !tx.has_written());
    return {result};
  }

  /// Throws    contract_violation if an element belongs to another rank
  template <class F>
  static void each_cell(const Op& op, const message& m, F&& f) {
    op.elements(m, [&](const auto& where) {
      CAIRN_EXPECTS(where.map->owns(where.id), "the elements of an activity have one owner");
      f(&where.element(), sizeof(where.element()));
    });
  }
};

}  // namespace cairn::activity
