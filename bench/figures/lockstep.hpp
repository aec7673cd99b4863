// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/dtx/acquisition.hpp>

namespace cairn::bench {

struct lockstep_result {
  int turns;   ///< played
  bool ended;  ///< all have committed
};

/// Plays the ownership protocol's machine on a circle of ranks that keep step: each has one
/// transaction, which needs the elements of its own rank and of the next. Own claims arrive
/// first, so that without back-off each refuses its neighbour and is refused, in every turn.
///
/// ranks     two or more
/// limits    in turns; first_ns 0: no back-off
/// most      turns after which nobody is waited for
/// seed      of the rests
[[nodiscard]] lockstep_result play_in_lockstep(int ranks, const dtx::back_off_limits& limits,
                                               int most, std::uint64_t seed);

}  // namespace cairn::bench
