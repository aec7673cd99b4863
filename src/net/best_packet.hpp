// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace cairn::net {

/// What a simulated network likes best of packets up to `most` bytes: as much as rings do.
constexpr std::size_t best_packet_of(std::size_t most) noexcept {
  return std::min(most, std::size_t{4} << 10);
}

}  // namespace cairn::net
