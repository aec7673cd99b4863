// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/transaction.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>
#include <cairn/tm/cell.hpp>

// An operator says what happens to one element when a message reaches it ([AAM15] section 3).
// It is a small struct of references and pure functions; the runtime decides where, when and
// together with which others it runs.
//
//   using message = ...;                      trivially copyable
//   place cell(message)                       single-cell: names the cell, on any rank, as
//                                             a map of pgas does: map.at(id)
//   bool wanted(T value, message)             optional; pure; may see a stale value; once false
//                                             it stays false until the epoch ends
//   ... attempt(cell_ref, message)            sees only that cell, through its verbs; may run
//                                             again; what it returns is its kind, see below
//   void after(message) or after(message, at)
//                                             once, outside, if the operator took effect;
//                                             at.worker() says where, at(message) sends on
// or, for an operator that changes several elements of one domain at once (multi-cell),
//
//   void elements(message, each)              calls each(place) for all it may touch; the
//                                             message goes to the owner of the first
//   ... attempt(tx, message)                  reaches them by tx.read(map, id) and
//                                             tx.write(map, id, value) only
//   bool wanted(message)                      optional; as above, from stale reads
//
// What an attempt returns is the operator's kind ([AAM15] section 3.2):
//
//                       always succeeds (AS)   may fail (MF): it has then changed nothing
//   fire and forget     void                   bool
//   fire and return     R                      outcome<R>
//
// A fire-and-return operator answers every message, also one that was not wanted:
//
//   void answer(message, outcome<R>) or answer(message, outcome<R>, at)
//                                             once, outside, on some worker of the rank that
//                                             spawned the message; may send on
//
// and its `after` is after(message), after(message, R) or after(message, R, at). An operator
// that fails is not a transaction that aborts: the runtime repeats the latter until it commits.
//
//   static constexpr bool permanent = true;   optional: a `wanted` that is false stays false for
//                                             the life of the operator, not just of the epoch

namespace cairn::activity {

/// What a fire-and-return operator that may fail came to: whether it took effect, and a value
/// that travels to the spawner either way.
template <class R>
struct outcome {
  bool done = false;
  R value{};
  friend bool operator==(const outcome&, const outcome&) = default;
};

namespace detail {
struct any_context {
  [[nodiscard]] worker_t worker() const { return 0; }
  template <class M>
  void operator()(const M&) const {}
};
struct each_place {
  template <class Place>
  void operator()(const Place&) const {}
};

}  // namespace detail

/// A message type's cell, as its value type.
template <class Op>
using cell_value_t = std::remove_cvref_t<
    decltype(std::declval<const Op&>().cell(std::declval<const typename Op::message&>()).here())>;

/// An operator that touches one cell of at most 8 bytes.
template <class Op>
concept single_cell = requires(const Op& op, const typename Op::message& m,
                               tm::cell_ref<cell_value_t<Op>, tm::atomic_access> ref) {
  op.attempt(ref, m);
}
&&sizeof(cell_value_t<Op>) <= 8;

/// A single-cell operator whose messages may come too late to take effect. One that does not say
/// always wants them, and no sent-filter keeps them back.
template <class Op>
concept selective = single_cell<Op> &&
    requires(const Op& op, const typename Op::message& m, const cell_value_t<Op>& value) {
  { op.wanted(value, m) } -> std::same_as<bool>;
};

/// An operator that reads and writes several elements, of any maps and sizes.
template <class Op>
concept multi_cell = !single_cell<Op> && requires(const Op& op, const typename Op::message& m,
                                                  transaction<tm::section_access>& tx) {
  op.elements(m, detail::each_place{});
  op.attempt(tx, m);
};

/// Whether mechanism M keeps the promise of Op's shape. An atomic instruction changes one cell.
template <class Op, mechanism M>
inline constexpr bool can_run = single_cell<Op> ? M != mechanism::stm : M != mechanism::atomics;

namespace detail {

template <class Op>
struct attempt_result;
template <single_cell Op>
struct attempt_result<Op> {
  using ref = tm::cell_ref<cell_value_t<Op>, tm::atomic_access>;
  using type = decltype(std::declval<const Op&>().attempt(
      std::declval<ref>(), std::declval<const typename Op::message&>()));
};
template <multi_cell Op>
struct attempt_result<Op> {
  using type =
      decltype(std::declval<const Op&>().attempt(std::declval<transaction<tm::section_access>&>(),
                                                 std::declval<const typename Op::message&>()));
};

// result   what an attempt leaves behind, for all kinds: tested by done()
// value    what travels back to the spawner; void where nothing does
template <class Returned>
struct kind_of {
  using result = outcome<Returned>;
  using value = Returned;
  static constexpr bool always_succeeds = true;
};
template <>
struct kind_of<void> {
  using result = bool;
  using value = void;
  static constexpr bool always_succeeds = true;
};
template <>
struct kind_of<bool> {
  using result = bool;
  using value = void;
  static constexpr bool always_succeeds = false;
};
template <class R>
struct kind_of<outcome<R>> {
  using result = outcome<R>;
  using value = R;
  static constexpr bool always_succeeds = false;
};

constexpr bool done(bool result) noexcept { return result; }
template <class R>
constexpr bool done(const outcome<R>& result) noexcept {
  return result.done;
}

}  // namespace detail

/// The kind of an operator, by what its attempt returns.
template <class Op>
using kind = detail::kind_of<typename detail::attempt_result<Op>::type>;

/// Its messages are answered.
template <class Op>
concept fire_and_return = !std::is_void_v<typename kind<Op>::value>;

/// A sent-filter may drop its messages: multi-cell operators have no mirror to ask, and
/// fire-and-return ones must answer everything.
template <class Op>
concept filtered = selective<Op> && !fire_and_return<Op>;

/// What an attempt came to: bool, or the outcome<R> that the spawner is told.
template <class Op>
using result_t = typename kind<Op>::result;

template <class Op>
concept permanent = requires {
  requires Op::permanent;
};

namespace detail {

// Runs the attempt; what always succeeds is done when it returns.
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
void after(Op& op, const typename Op::message& m, const result_t<Op>& result, At& at) {
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

/// What came of one run of an operator: `marked` if an element was held by a transaction over
/// ranks, so that nothing was attempted.
template <class Op>
struct run_of {
  result_t<Op> result{};
  bool marked = false;
};

/// A place whose map keeps a marker word beside each element: 0, or who holds the element.
template <class Place>
concept marked_place = requires(const Place& where) {
  { where.map->marker(where.id) } -> std::same_as<std::uint64_t&>;
};

/// What the runtime asks of an operator, whatever its shape.
template <class Op>
struct shape;

template <single_cell Op>
struct shape<Op> {
  using message = typename Op::message;
  using value = cell_value_t<Op>;

  [[gnu::always_inline]] static bool is_here(const Op& op, const message& m) {
    const auto where = op.cell(m);
    return where.map->owns(where.id);
  }
  static rank_t owner(const Op& op, const message& m) { return op.cell(m).owner(); }

  /// Outside any section; may see a stale value.
  [[gnu::always_inline]] static bool wanted(const Op& op, const message& m) {
    if constexpr (selective<Op>) {
      return op.wanted(tm::load_cell(op.cell(m).here()), m);
    } else {
      static_assert(
          !requires { &Op::wanted; }, "wanted takes (value, message), returns bool");
      return true;
    }
  }

  template <class Access>
  [[gnu::always_inline]] static run_of<Op> run(const Op& op, Access access, const message& m) {
    auto& cell = op.cell(m).here();
    if constexpr (checked && std::is_same_v<Access, tm::plain_access>) {
      const value before = cell;
      const auto result = detail::attempt(op, tm::cell_ref<value, Access>(cell, access), m);
      CAIRN_ASSERT(detail::done(result) || std::memcmp(&before, &cell, sizeof cell) == 0);
      return {result};
    }
    return {detail::attempt(op, tm::cell_ref<value, Access>(cell, access), m)};
  }

  /// Calls f(address, bytes) for what an attempt touches.
  template <class F>
  static void each_cell(const Op& op, const message& m, F&& f) {
    f(&op.cell(m).here(), sizeof(value));
  }
};

template <multi_cell Op>
struct shape<Op> {
  using message = typename Op::message;

  static bool is_here(const Op& op, const message& m) {
    bool first = true, here = false;
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
  static bool wanted(const Op& op, const message& m) {
    if constexpr (requires { op.wanted(m); }) {
      return op.wanted(m);
    } else {
      return true;
    }
  }

  /// The markers are read by the mechanism that runs, so atomically with what follows.
  template <class Access>
  static run_of<Op> run(const Op& op, Access access, const message& m) {
    bool marked = false;
    op.elements(m, [&]<class Place>(const Place& where) {
      if constexpr (marked_place<Place>) {
        marked = marked || access.load(where.map->marker(where.id)) != 0;
      }
    });
    if (marked) return {{}, true};
    transaction<Access> tx(access);
    const auto result = detail::attempt(op, tx, m);
    CAIRN_ASSERT(detail::done(result) || !tx.wrote());
    return {result};
  }

  /// Throws    contract_violation if an element belongs to another rank than the first
  template <class F>
  static void each_cell(const Op& op, const message& m, F&& f) {
    op.elements(m, [&](const auto& where) {
      CAIRN_EXPECTS(where.map->owns(where.id), "the elements of an activity have one owner");
      f(&where.here(), sizeof(where.here()));
    });
  }
};

}  // namespace cairn::activity
