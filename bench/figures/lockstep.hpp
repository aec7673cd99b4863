// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/dtx/acquisition.hpp>

namespace cairn::bench {

struct lockstep_result {
  int turns;   ///< turns played
  bool ended;  ///< whether all transactions have committed
};

/// Simulates the ownership protocol's state machine on a ring of ranks in lockstep. Each rank has
/// one transaction, which needs the elements of its own rank and of the next. Own claims arrive
/// first, so that without back-off each transaction refuses its neighbor and is refused, in every
/// turn.
///
/// ranks     two or more
/// limits    in turns; first_ns 0: no back-off
/// max_turns  maximum number of turns
/// seed      of the random delays
[[nodiscard]] lockstep_result play_in_lockstep(int ranks, const dtx::back_off_limits& limits,
                                               int max_turns, std::uint64_t seed);

}  // namespace cairn::bench
