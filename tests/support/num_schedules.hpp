// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cairn::support {

/// Sanitizers make each step ten times as expensive, and find nothing new in the hundredth case on
/// a single thread.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Number of schedules played for each pure state machine.
inline constexpr std::uint64_t num_schedules = sanitized ? 10'000 : 100'000;

/// Number of runs of a whole program on as many simulated schedules: a fifth of them when
/// sanitized.
constexpr std::uint64_t few_when_sanitized(std::uint64_t runs) {
  return sanitized ? runs / 5 : runs;
}

}  // namespace cairn::support
