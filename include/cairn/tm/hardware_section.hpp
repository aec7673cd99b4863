// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include <cairn/hw/rtm.hpp>
#include <cairn/tm/attempt_outcome.hpp>
#include <cairn/tm/cell.hpp>

namespace cairn::tm {

/// Ends a software attempt from any call depth. It is no std::exception, so that a body's own
/// handlers do not catch it. It is never thrown inside a hardware transaction.
struct leave {
  attempt_outcome why;
};

/// Runs a section atomically. One object per worker. The section accesses cells through `access`
/// only.
///
///   begin()       the section may start if committed(); otherwise the outcome says why not. Under
///                 real hardware it returns again when the section aborts
///   commit()      publishes the section's writes, or returns why it did not
///   abort<Code>() aborts the running section; does not return
///   cell_access() the access policy for the section's cell_refs
///   outside(f)    runs f, which accesses the same cells without a section
///   aborts_by_exception  abort<Code>(), commit() and cells throw `leave`; cancel() then cleans up
template <class H>
concept hardware = requires(H& h, void (*f)()) {
  { h.begin() } -> std::same_as<attempt_outcome>;
  { h.commit() } -> std::same_as<attempt_outcome>;
  {h.template abort<abort_code::left>()};
  { h.cell_access() } -> std::same_as<typename H::access>;
  {h.outside(f)};
  { H::aborts_by_exception } -> std::convertible_to<bool>;
};

/// Restricted transactional memory. Requires that hw::probe_transactions reports that it works.
class rtm_hardware {
 public:
  using access = section_access;
  static constexpr bool aborts_by_exception = false;

  [[gnu::always_inline]] attempt_outcome begin() noexcept {
    return attempt_outcome(hw::rtm_begin());
  }
  [[gnu::always_inline]] attempt_outcome commit() noexcept {
    hw::rtm_commit();
    return attempt_outcome::success();
  }
  template <abort_code Code>
  [[noreturn, gnu::always_inline]] void abort() noexcept {
    hw::rtm_abort<static_cast<std::uint8_t>(Code)>();
    __builtin_unreachable();  // the processor continues where begin() returns
  }
  [[gnu::always_inline]] static access cell_access() noexcept { return {}; }
  template <class F>
  [[gnu::always_inline]] void outside(F&& f) {
    std::forward<F>(f)();
  }
};

static_assert(hardware<rtm_hardware>);

}  // namespace cairn::tm
