// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <cairn/base/random.hpp>
#include <cairn/tm/attempt_outcome.hpp>

namespace cairn::tm {

/// The next step after an abort.
enum class retry_step : std::uint8_t {
  retry,                ///< after retry_decision::pauses
  wait_then_retry,      ///< when the fallback lock is free
  pretouch_then_retry,  ///< after the section's memory was touched
  split,                ///< into two sections of half the operators each
  fall_back,            ///< another mechanism finishes the group
};

struct retry_decision {
  retry_step step;
  std::uint32_t pauses = 0;

  friend constexpr bool operator==(const retry_decision&, const retry_decision&) = default;
};

/// Retry limits of a group, by cause. Every limit is finite: a page that always faults inside a
/// transaction would abort it forever.
struct retry_limits {
  std::uint32_t conflicts = 8;
  std::uint32_t lock_waits = 16;
  std::uint32_t others = 2;
  std::uint32_t first_pauses = 16;  ///< back-off window after the first conflict; then doubled
  std::uint32_t max_pauses = 4096;  ///< up to this
  std::uint32_t capacities = 0;     ///< after capacity aborts; used if `halve` is false
  bool halve = true;                ///< splits sections that are too large
  /// Limit over all causes; halving does not count.
  std::uint32_t retries = std::numeric_limits<std::uint32_t>::max();

  friend constexpr bool operator==(const retry_limits&, const retry_limits&) = default;
};

/// The default of this library: limits by cause.
inline constexpr retry_limits retry_rtm{};
/// Hardware lock elision: takes the lock after the first abort, for any cause [AAM15, 4.1].
inline constexpr retry_limits retry_hle{.halve = false, .retries = 0};
/// Blue Gene/Q: ten retries for any causes, then the lock [AAM15, 4.1].
inline constexpr retry_limits retry_bgq{.conflicts = 10,
                                        .lock_waits = 10,
                                        .others = 10,
                                        .first_pauses = 0,
                                        .max_pauses = 0,
                                        .capacities = 10,
                                        .halve = false,
                                        .retries = 10};

/// "rtm", "hle" or "bgq"; "limits" for other values.
[[nodiscard]] std::string_view name(const retry_limits& limits) noexcept;
/// Throws    usage_error for any other name
[[nodiscard]] retry_limits parse_retry(std::string_view text);

/// Decides what a group of operators does after each abort. A state machine without a clock. Only
/// the random numbers carry over between groups. One object per worker.
///
/// After a conflict the group waits a random time, so that two sections do not conflict in
/// lockstep. A section that is too large is halved. A single operator that is too large falls back;
/// so does a body that left by itself, because it would leave again.
class retry_policy {
 public:
  explicit retry_policy(const retry_limits& limits = {}, std::uint64_t seed = 0) noexcept
      : limits_(limits), random_(seed) {}

  /// Starts a new group of `operators` operators.
  void start(std::size_t operators) noexcept {
    operators_ = operators;
    retries_ = conflicts_ = lock_waits_ = others_ = capacities_ = 0;
  }

  /// Decides after an abort. The answer is split or fall_back after at most conflicts + lock_waits
  /// + others + capacities + 1 calls since start(), and after at most retries + 1.
  [[nodiscard]] retry_decision next(attempt_outcome aborted) noexcept;

  [[nodiscard]] const retry_limits& limits() const noexcept { return limits_; }

 private:
  retry_limits limits_;
  random64 random_;
  std::size_t operators_ = 1;
  std::uint32_t retries_ = 0;
  std::uint32_t conflicts_ = 0;
  std::uint32_t lock_waits_ = 0;
  std::uint32_t others_ = 0;
  std::uint32_t capacities_ = 0;
};

}  // namespace cairn::tm
