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
//   bool wanted(T value, message)             pure; may see a stale value; once false it stays
//                                             false until the epoch ends
//   void|bool attempt(cell_ref, message)      sees only that cell, through its verbs; may run
//                                             again; false: it has changed nothing
//   void after(message) or after(message, at)
//                                             once, outside, if the operator took effect;
//                                             at.worker() says where, at(message) sends on
// or, for an operator that changes several elements of one domain at once (multi-cell),
//
//   void elements(message, each)              calls each(place) for all it may touch; the
//                                             message goes to the owner of the first
//   void|bool attempt(tx, message)            reaches them by tx.read(map, id) and
//                                             tx.write(map, id, value) only
//   bool wanted(message)                      optional; as above, from stale reads
//
//   static constexpr bool permanent = true;   optional: a `wanted` that is false stays false for
//                                             the life of the operator, not just of the epoch

namespace cairn::activity {

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
                               const cell_value_t<Op>& value,
                               tm::cell_ref<cell_value_t<Op>, tm::atomic_access> ref) {
  { op.wanted(value, m) } -> std::same_as<bool>;
  op.attempt(ref, m);
}
&&sizeof(cell_value_t<Op>) <= 8;

/// An operator that reads and writes several elements, of any maps and sizes.
template <class Op>
concept multi_cell = !single_cell<Op> && requires(const Op& op, const typename Op::message& m,
                                                  transaction<tm::section_access>& tx) {
  op.elements(m, detail::each_place{});
  op.attempt(tx, m);
};

/// Whether mechanism M keeps the promise of Op's shape. An atomic instruction changes one cell.
template <class Op, mechanism M>
inline constexpr bool can_run = M != mechanism::atomics || single_cell<Op>;

/// `after` wants to know its worker or to send on.
template <class Op>
concept in_context = requires(Op& op, const typename Op::message& m, detail::any_context& at) {
  op.after(m, at);
};

template <class Op>
concept permanent = requires {
  requires Op::permanent;
};

namespace detail {

// Runs the attempt and says whether it took effect; void means it always does.
template <class Op, class Data>
[[gnu::always_inline]] inline bool attempt(const Op& op, Data&& data,
                                           const typename Op::message& m) {
  using kind = decltype(op.attempt(data, m));
  static_assert(std::is_void_v<kind> || std::is_same_v<kind, bool>,
                "attempt returns void (always succeeds) or bool (may fail)");
  static_assert(!noexcept(op.attempt(data, m)),
                "an attempt may be left early by the runtime: it must not be noexcept");
  if constexpr (std::is_void_v<kind>) {
    op.attempt(data, m);
    return true;
  } else {
    return op.attempt(data, m);
  }
}

}  // namespace detail

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
    return op.wanted(tm::load_cell(op.cell(m).here()), m);
  }

  template <class Access>
  [[gnu::always_inline]] static bool run(const Op& op, Access access, const message& m) {
    auto& cell = op.cell(m).here();
    if constexpr (checked && std::is_same_v<Access, tm::plain_access>) {
      const value before = cell;
      const bool took = detail::attempt(op, tm::cell_ref<value, Access>(cell, access), m);
      CAIRN_ASSERT(took || std::memcmp(&before, &cell, sizeof cell) == 0);
      return took;
    }
    return detail::attempt(op, tm::cell_ref<value, Access>(cell, access), m);
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

  template <class Access>
  static bool run(const Op& op, Access access, const message& m) {
    transaction<Access> tx(access);
    const bool took = detail::attempt(op, tx, m);
    CAIRN_ASSERT(took || !tx.wrote());
    return took;
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
