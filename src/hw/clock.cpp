// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <cairn/hw/clock.hpp>

namespace cairn::hw {

std::uint64_t steady_clock::now_ns() const noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace cairn::hw
