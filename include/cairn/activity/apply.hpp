// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/activity/shape.hpp>
#include <cairn/base/types.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::activity {

/// Runs a single-cell operator at once, on an element of this rank that has no other writer. Its
/// `after` may use `worker()` and must not send.
///
/// op        a copy of `original` that a loop keeps in registers; `after` runs on `original`
/// Returns   whether the operator took effect
template <single_cell Op>
requires(!fire_and_return<Op>)  //
    [[gnu::always_inline]] inline bool apply_plain(const Op& op, Op& original,
                                                   const typename Op::message& m, worker_t k) {
  struct context {
    worker_t k;
    [[nodiscard]] worker_t worker() const noexcept { return k; }
  };
  using ref = tm::cell_ref<cell_value_t<Op>, tm::plain_access>;
  if (!detail::attempt(op, ref(op.cell(m).element()), m)) return false;
  context at{k};
  detail::after(original, m, true, at);
  return true;
}

}  // namespace cairn::activity
