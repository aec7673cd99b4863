// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/core/receiver.hpp>
#include <cairn/core/world.hpp>

namespace cairn::am {

/// Returns once all messages that any rank has sent on a standing channel have been handled, or
/// when the world is poisoned or cancelled. The ledger (ledger.hpp) decides.
///
/// Collective  by worker 0 outside jobs; nobody sends on the channel any more but its handlers
void finish_standing(world& w, receiver& r) noexcept;

}  // namespace cairn::am
