// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cairn::am {

/// The size of one worker's next block for one next hop.
///
/// While a block fills, its messages wait; their receiver may be idle meanwhile, or do work that
/// they would have made unnecessary. Small blocks wait less and cost more, because each costs about
/// as much as `step` of its bytes (transport::packet_cost). For a burst of N bytes both costs
/// together are least with blocks of about sqrt(N * step). N is known when the burst ends; but
/// blocks that grow by `step` each have about that size at any time: after k of them, N = k * k / 2
/// * step bytes were sent, and the next has k * step = sqrt(2 * N * step). Both costs together are
/// at most 1.5 times the least. So
///
///   a block that left                  the next one
///   full                               is one step larger, up to `max`
///   part-filled: it was old, or its    is of one step: the burst is over
///   worker had no other work
///
/// A pure state machine.
class block_growth {
 public:
  /// Bytes of the next block, if blocks are free to have any number.
  [[nodiscard]] constexpr std::size_t bytes(std::size_t step, std::size_t max) const noexcept {
    return std::min<std::size_t>(max, steps_ * step);
  }
  constexpr void left_full() noexcept { steps_ += steps_ < max_steps ? 1 : 0; }
  constexpr void left_early() noexcept { steps_ = 1; }

 private:
  static constexpr std::uint32_t max_steps = 1u << 16;
  std::uint32_t steps_ = 1;
};

}  // namespace cairn::am
