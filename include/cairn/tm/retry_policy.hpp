// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cairn/base/random.hpp>
#include <cairn/tm/attempt_outcome.hpp>

namespace cairn::tm {

/// What to do after an abort.
enum class retry_step : std::uint8_t {
  retry,                ///< after decision::pauses
  wait_then_retry,      ///< when the fallback lock is free
  pretouch_then_retry,  ///< after the section's memory was touched
  split,                ///< as two sections of half the operators
  fall_back,            ///< another mechanism finishes the group
};

struct decision {
  retry_step step;
  std::uint32_t pauses = 0;

  friend constexpr bool operator==(const decision&, const decision&) = default;
};

/// How often a group tries again, by cause. Every bound is finite: a page that only ever faults
/// inside a transaction would abort it for ever.
struct retry_limits {
  std::uint32_t conflicts = 8;
  std::uint32_t lock_waits = 16;
  std::uint32_t others = 2;
  std::uint32_t first_pauses = 16;   ///< back-off window after the first conflict; then doubled
  std::uint32_t most_pauses = 4096;  ///< up to this
};

/// Decides what a group of operators does after each abort. A state machine: no clock, no
/// memory of earlier groups but the random numbers. One object per worker.
///
/// A conflict waits a random time, so that two sections do not meet again in step. A section
/// that is too large is halved; a single operator that is too large falls back, and so does a
/// body that left by itself: it would leave again.
class retry_policy {
 public:
  explicit retry_policy(const retry_limits& limits = {}, std::uint64_t seed = 0) noexcept
      : limits_(limits), random_(seed) {}

  /// A new group of so many operators.
  void start(std::size_t operators) noexcept {
    operators_ = operators;
    conflicts_ = lock_waits_ = others_ = 0;
  }

  /// The group's attempt aborted like this. At most conflicts + lock_waits + others + 1 calls
  /// after start() until the answer is split or fall_back.
  [[nodiscard]] decision next(attempt_outcome aborted) noexcept;

  [[nodiscard]] const retry_limits& limits() const noexcept { return limits_; }

 private:
  retry_limits limits_;
  random64 random_;
  std::size_t operators_ = 1;
  std::uint32_t conflicts_ = 0;
  std::uint32_t lock_waits_ = 0;
  std::uint32_t others_ = 0;
};

}  // namespace cairn::tm
