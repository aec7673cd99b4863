// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/base/types.hpp>

namespace cairn {

inline constexpr rank_t max_ranks = 1 << 20;
inline constexpr std::size_t smallest_packet = 256, largest_packet = std::size_t{1} << 30;
inline constexpr double max_latency_us = 1e9;

}  // namespace cairn
