// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <cairn/activity/element_access.hpp>
#include <cairn/activity/mechanism.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>
#include <cairn/tm/cell.hpp>

// An operator says what happens to one element when a message reaches it ([AAM15] section 3). It is
// a small struct of references and pure functions. The runtime decides where and when it runs, and
// which operators run together. Each span of messages runs on a copy of the operator (`after` and
// `answer` on the original), so that members held by value, such as a map's view(), stay in
// registers.
//
//   using message = ...;                      trivially copyable
//   place cell(message)                       single-cell: names the cell, on any rank, in the
//                                             form of a pgas map: map.at(id)
//   bool wanted(T value, message)             optional; pure; may see a stale value; once false
//                                             it stays false until the epoch ends. Also true of
//                                             the map's initial() wherever the cell may want the
//                                             message: the sent-filter assumes this value for
//                                             remote cells. Otherwise options::sent_filter = false
//   ... attempt(cell_ref, message)            accesses only that cell, through its verbs; may run
//                                             again; its return type is the kind, see below
//   void after(message) or after(message, at)
//                                             runs once, outside, if the operator took effect;
//                                             at.worker() is the worker, at(message) sends. If
//                                             few messages fail, [[gnu::always_inline]] saves a
//                                             call per message
// or, for an operator that changes several elements of one domain at once (multi-cell),
//
//   void elements(message, each)              calls each(place) for every element that it may
//                                             touch; the owner of the first gets the message,
//                                             without any it runs where it was sent
//   ... attempt(tx, message)                  accesses them only by tx.read(map, id) and
//                                             tx.write(map, id, value)
//   bool wanted(message)                      optional; as above, from stale reads
//
// The return type of the attempt is the operator's kind ([AAM15] section 3.2):
//
//                       always succeeds (AS)   may fail (MF): it has then changed nothing
//   fire and forget     void                   bool
//   fire and return     R                      outcome<R>
//
// A fire-and-return operator answers every message, also unwanted ones:
//
//   void answer(message, outcome<R>) or answer(message, outcome<R>, at)
//                                             runs once, outside, on the worker that spawned
//                                             the message; may send
//
// and its `after` is after(message), after(message, R) or after(message, R, at). A failed operator
// is not an aborted transaction: the runtime repeats an aborted transaction until it commits.
//
//   std::uint64_t key(message)                optional, for fire-and-forget operators: messages
//   using combined = A                        of equal key have the same first element, and
//                                             aggregator A, whose values are messages, combines
//                                             those that wait to be sent to it
//
//   static bool before(message, message)      optional, single-cell and fire-and-forget: the order
//                                             in which a received buffer runs if the options sort
//   static constexpr bool permanent = true;   optional: once `wanted` is false it stays false for
//                                             the life of the operator, not only of the epoch;
//                                             cell(message{}) names a cell too
//   static constexpr bool sends = false;      optional, single-cell and fire-and-forget: `after`
//                                             neither sends, on any channel, nor holds the epoch,
//                                             which then ends sooner (am/epoch.hpp)
//   static constexpr bool once = true;        optional: after one handled message its cell wants
//                                             no other, for the life of the operator
//   static constexpr bool prefiltered = true; optional, single-cell and fire-and-forget: the branch
//                                             on `wanted` is unpredictable. `plain` and `atomics`
//                                             evaluate it without a branch, then run the
//                                             operators of the messages that are wanted, dozens
//                                             at a time

namespace cairn::activity {

/// The result of a fire-and-return operator that may fail: whether it took effect, and a value that
/// is returned to the spawner in both cases.
template <class R>
struct outcome {
  bool done = false;
  R value{};
  bool operator==(const outcome&) const = default;
};

namespace detail {
struct any_context {
  [[nodiscard]] worker_t worker() const { return main_worker; }
  template <class M>
  void operator()(const M&) const {}
};
struct each_place {
  template <class Place>
  void operator()(const Place&) const {}
};

}  // namespace detail

/// The value type of the cell that Op names.
template <class Op>
using cell_value_t =
    std::remove_cvref_t<decltype(std::declval<const Op&>()
                                     .cell(std::declval<const typename Op::message&>())
                                     .element())>;

/// An operator that touches one cell of at most 8 bytes.
template <class Op>
concept single_cell = requires(const Op& op, const typename Op::message& m,
                               tm::cell_ref<cell_value_t<Op>, tm::atomic_access> ref) {
  op.attempt(ref, m);
}
&&sizeof(cell_value_t<Op>) <= 8;

/// A single-cell operator that can refuse messages before they run. An operator without `wanted`
/// wants every message, so the sent-filter drops none.
template <class Op>
concept selective = single_cell<Op> &&
    requires(const Op& op, const typename Op::message& m, const cell_value_t<Op>& value) {
  { op.wanted(value, m) } -> std::same_as<bool>;
};

/// See `before` above.
template <class Op>
concept sortable = single_cell<Op> && requires(const typename Op::message& m) {
  { Op::before(m, m) } -> std::same_as<bool>;
};

/// See `prefiltered` above.
template <class Op>
concept declares_prefiltered = requires {
  requires Op::prefiltered;
};
template <class Op>
concept prefiltered = selective<Op> && declares_prefiltered<Op>;

/// An operator that reads and writes several elements, of any maps and sizes.
template <class Op>
concept multi_cell = !single_cell<Op> && requires(const Op& op, const typename Op::message& m,
                                                  element_access<tm::section_access>& tx) {
  op.elements(m, detail::each_place{});
  op.attempt(tx, m);
};

/// Whether mechanism M can make Op atomic. One atomic instruction changes one cell only.
template <class Op, mechanism M>
inline constexpr bool can_run = single_cell<Op> ? M != mechanism::stm : M != mechanism::atomics;

/// Whether an executor that is compiled for `Fixed` runs `m`, for instance as the replacement of
/// htm. `automatic` compiles every mechanism that can make Op atomic.
template <class Op, mechanism Fixed>
constexpr bool may_run(mechanism m) noexcept {
  if (m == (single_cell<Op> ? mechanism::stm : mechanism::atomics)) return false;
  if (Fixed == mechanism::automatic || Fixed == m) return true;
  if (Fixed != mechanism::htm) return false;
  if (single_cell<Op>) return m == mechanism::atomics;
  return m == mechanism::stm || m == mechanism::locks || m == mechanism::one_lock;
}

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
  using type = decltype(std::declval<const Op&>().attempt(
      std::declval<element_access<tm::section_access>&>(),
      std::declval<const typename Op::message&>()));
};

// result   the result of an attempt, for all kinds: tested by done()
// value    the value returned to the spawner; void if there is none
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

/// Each of its messages is answered.
template <class Op>
concept fire_and_return = !std::is_void_v<typename kind<Op>::value>;

/// A fire-and-forget operator that does something once it took effect.
template <class Op>
concept has_after = requires(Op& op, const typename Op::message& m) {
  op.after(m);
}
|| requires(Op& op, const typename Op::message& m, detail::any_context& at) { op.after(m, at); };

/// A sent-filter may drop its messages. Multi-cell operators have no mirror cell, and
/// fire-and-return operators must answer every message.
template <class Op>
concept filtered = selective<Op> && !fire_and_return<Op>;

/// See `sends` above.
template <class Op>
concept declares_sends = requires {
  typename std::bool_constant<Op::sends>;
};

/// Its messages lead to no others: it has no `after`, or one that sends nothing (`sends` above).
/// Operators that answer or park messages are not silent.
template <class Op>
concept silent = single_cell<Op> && !fire_and_return<Op> &&
                 (!has_after<Op> || (declares_sends<Op> && !Op::sends));

/// See `key` above.
template <class Op>
concept names_key = requires(const Op& op, const typename Op::message& m) {
  op.key(m);
};

/// Messages of equal key may be combined before they travel.
template <class Op>
concept combining = !fire_and_return<Op> && requires(const Op& op, const typename Op::message& m) {
  { op.key(m) } -> std::convertible_to<std::uint64_t>;
  requires aggregator<typename Op::combined>;
  requires std::same_as<typename Op::combined::value_type, typename Op::message>;
};

/// The result of an attempt: bool, or the outcome<R> that is returned to the spawner.
template <class Op>
using result_t = typename kind<Op>::result;

/// See `once` above.
template <class Op>
concept once = requires {
  requires Op::once;
};

template <class Op>
concept permanent = once<Op> || requires {
  requires Op::permanent;
};

}  // namespace cairn::activity
