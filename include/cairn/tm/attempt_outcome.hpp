// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/hw/rtm.hpp>

namespace cairn::tm {

/// Why an attempt aborted; each cause has a counter.
enum class abort_cause : std::uint8_t {
  conflict,   ///< another core accessed the section's memory
  capacity,   ///< the section exceeded the hardware's capacity
  explicit_,  ///< the software aborted; abort_code says why
  other,      ///< a page fault, an interrupt, an instruction that is not allowed inside
};

/// The code that software passes to an explicit abort.
enum class abort_code : std::uint8_t {
  none = 0,
  lock_taken = 0xf0,  ///< the fallback lock was held: wait until it is free
  left = 0xf1,        ///< the body cannot continue; it must run in software to report why
  injected = 0xf2,    ///< by abort_injection, which records the cause
};

/// How one attempt to run a section ended: one word in the hardware's status format, also for
/// software attempts.
class attempt_outcome {
 public:
  constexpr explicit attempt_outcome(std::uint32_t status) noexcept : status_(status) {}

  static constexpr attempt_outcome success() noexcept { return attempt_outcome(hw::rtm_started); }
  /// The outcome that hardware would report; `code` is used for explicit_ only.
  static constexpr attempt_outcome abort(abort_cause cause,
                                         abort_code code = abort_code::none) noexcept {
    switch (cause) {
      case abort_cause::conflict:
        return attempt_outcome(hw::rtm_status_conflict | hw::rtm_status_retry);
      case abort_cause::capacity:
        return attempt_outcome(hw::rtm_status_capacity);
      case abort_cause::explicit_:
        return attempt_outcome(hw::rtm_status_explicit | static_cast<std::uint32_t>(code) << 24);
      case abort_cause::other:
        break;
    }
    return attempt_outcome(0);
  }

  [[nodiscard]] constexpr bool committed() const noexcept { return status_ == hw::rtm_started; }

  /// Only for an attempt that did not commit. If hardware reports two causes, capacity takes
  /// precedence over conflict, because a retry does not help a section that is too large.
  [[nodiscard]] constexpr abort_cause cause() const noexcept {
    if ((status_ & hw::rtm_status_explicit) != 0) return abort_cause::explicit_;
    if ((status_ & hw::rtm_status_capacity) != 0) return abort_cause::capacity;
    if ((status_ & hw::rtm_status_conflict) != 0) return abort_cause::conflict;
    return abort_cause::other;
  }

  [[nodiscard]] constexpr abort_code code() const noexcept {
    return (status_ & hw::rtm_status_explicit) != 0 ? static_cast<abort_code>(status_ >> 24)
                                                    : abort_code::none;
  }

  [[nodiscard]] constexpr std::uint32_t status() const noexcept { return status_; }

  friend constexpr bool operator==(attempt_outcome, attempt_outcome) noexcept = default;

 private:
  std::uint32_t status_;
};

}  // namespace cairn::tm
