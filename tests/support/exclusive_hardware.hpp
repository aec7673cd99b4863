// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include <cairn/tm/hardware_section.hpp>

namespace cairn::support {

/// Hardware for a single thread: every section commits. Nothing can be undone, so injected aborts
/// must come before the body.
class exclusive_hardware {
 public:
  using access = tm::section_access;
  static constexpr bool aborts_by_exception = true;

  tm::attempt_outcome begin() noexcept { return tm::attempt_outcome::success(); }
  tm::attempt_outcome commit() noexcept { return tm::attempt_outcome::success(); }
  /// The section must not have written yet.
  template <tm::abort_code Code>
  [[noreturn]] void abort() {
    throw tm::leave{tm::attempt_outcome::abort(tm::abort_cause::explicit_, Code)};
  }
  void cancel() noexcept {}
  static access cell_access() noexcept { return {}; }
  template <class F>
  void outside(F&& f) {
    std::forward<F>(f)();
  }
};

static_assert(tm::hardware<exclusive_hardware>);

}  // namespace cairn::support
