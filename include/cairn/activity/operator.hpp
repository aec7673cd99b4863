// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <cairn/activity/mechanism.hpp>
#include <cairn/activity/transaction.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>
#include <cairn/tm/cell.hpp>

// An operator says what happens to one element when a message reaches it ([AAM15] section 3).
// It is a small struct of references and pure functions; the runtime decides where, when and
// together with which others it runs. Each span of messages runs on a copy (its `after` and
// `answer` on the original), so that what the operator holds by value, such as a map's view(),
// stays in registers.
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
//                                             once, outside, on the worker that spawned the
//                                             message; may send on
//
// and its `after` is after(message), after(message, R) or after(message, R, at). An operator
// that fails is not a transaction that aborts: the runtime repeats the latter until it commits.
//
//   std::uint64_t key(message)                optional, for an operator that is fire and forget:
//   using combined = A                        messages of equal key have one first element, and
//                                             aggregator A, whose values are messages, combines
//                                             those that wait to travel there
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
  bool operator==(const outcome&) const = default;
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

/// Messages of equal key may be combined before they travel.
template <class Op>
concept combining = !fire_and_return<Op> && requires(const Op& op, const typename Op::message& m) {
  { op.key(m) } -> std::convertible_to<std::uint64_t>;
  requires aggregator<typename Op::combined>;
  requires std::same_as<typename Op::combined::value_type, typename Op::message>;
};

/// What an attempt came to: bool, or the outcome<R> that the spawner is told.
template <class Op>
using result_t = typename kind<Op>::result;

template <class Op>
concept permanent = requires {
  requires Op::permanent;
};

}  // namespace cairn::activity
