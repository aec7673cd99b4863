// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cairn::support {

/// How many schedules a pure machine is played through. Sanitizers make each ten times as dear and
/// find nothing new in what runs on one thread.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t num_schedules = 10'000;
#else
inline constexpr std::uint64_t num_schedules = 100'000;
#endif

}  // namespace cairn::support
