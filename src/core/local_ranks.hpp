// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <cairn/base/types.hpp>

#include "core/ending.hpp"
#include "core/interrupt.hpp"

namespace cairn {

/// What a child runs: its rank, and what its world is to be registered with.
using rank_main_function = std::function<ending(rank_t, interrupt_handler&)>;

/// Runs rank_main in one forked child for each rank and returns when all have ended: the
/// ending of the first rank that failed by itself, or of the first that was killed.
///
/// When a child dies of a signal, or leaves without returning from rank_main, the others are
/// ended (SIGTERM, half a second later SIGKILL); when one fails in order they have three
/// seconds to notice. SIGINT to this process or to a child cancels their worlds. The children are
/// ended when this process gets a second SIGINT, SIGTERM, SIGHUP or SIGQUIT (which it then raises
/// again) and when it dies. rank_main does not throw.
///
/// Throws    system_failure if the children cannot be started
[[nodiscard]] ending run_local_ranks(rank_t ranks, const rank_main_function& rank_main);

}  // namespace cairn
