// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <cairn/base/types.hpp>
#include <cairn/tm/cell.hpp>

// An operator says what happens to one element when a message reaches it ([AAM15] section 3).
// It is a small struct of references and pure functions; the runtime decides where, when and
// together with which others it runs.
//
//   using message = ...;                      trivially copyable
//   place<T> cell(message)                    single-cell: names the cell, on any rank
//   bool wanted(T value, message)             pure; may see a stale value; once false it stays
//                                             false until the epoch ends
//   void|bool attempt(cell_ref, message)      sees only that cell, through its verbs; may run
//                                             again; false: it has changed nothing
//   void after(message) or after(message, at)
//                                             once, outside, if the operator took effect;
//                                             at.worker() says where, at(message) sends on
//   static constexpr bool permanent = true;   optional: a `wanted` that is false stays false for
//                                             the life of the operator, not just of the epoch

namespace cairn::activity {

namespace detail {
struct any_context {
  [[nodiscard]] worker_t worker() const { return 0; }
  template <class M>
  void operator()(const M&) const {}
};
}  // namespace detail

/// A message type's cell, as its value type.
template <class Op>
using cell_value_t = std::remove_cvref_t<
    decltype(std::declval<const Op&>().cell(std::declval<const typename Op::message&>()).here())>;

/// An operator that touches one cell of at most 8 bytes.
template <class Op>
concept single_cell = requires(const Op& op, const typename Op::message& m,
                               const cell_value_t<Op>& value,
                               tm::cell_ref<cell_value_t<Op>, tm::atomic_access> ref) {
  { op.wanted(value, m) } -> std::same_as<bool>;
  op.attempt(ref, m);
}
&&sizeof(cell_value_t<Op>) <= 8;

/// `after` wants to know its worker or to send on.
template <class Op>
concept in_context = requires(Op& op, const typename Op::message& m, detail::any_context& at) {
  op.after(m, at);
};

template <class Op>
concept permanent = requires {
  requires Op::permanent;
};

/// Runs the attempt and says whether it took effect; void means it always does.
template <class Op, class Ref>
[[gnu::always_inline]] inline bool attempt(const Op& op, Ref ref, const typename Op::message& m) {
  using kind = decltype(op.attempt(ref, m));
  static_assert(std::is_void_v<kind> || std::is_same_v<kind, bool>,
                "attempt returns void (always succeeds) or bool (may fail)");
  static_assert(!noexcept(op.attempt(ref, m)),
                "an attempt may be left early by the runtime: it must not be noexcept");
  if constexpr (std::is_void_v<kind>) {
    op.attempt(ref, m);
    return true;
  } else {
    return op.attempt(ref, m);
  }
}

}  // namespace cairn::activity
