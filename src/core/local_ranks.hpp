// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include <cairn/base/types.hpp>

#include "core/interrupt.hpp"
#include "core/rank_result.hpp"
#include "core/time_limit.hpp"

namespace cairn {

/// A child's main function: gets its rank and the handler at which it registers its world.
using rank_main_function = std::function<rank_result(rank_t, interrupt_handler&)>;

/// Runs rank_main in one forked child per rank and returns when all have ended: the result of the
/// first rank that failed by itself, or of the first that was killed.
///
/// When a child dies of a signal, or exits without returning from rank_main, the others are
/// killed. When rank_main returns a failure, the others have three seconds to notice. SIGINT and
/// SIGTERM to this process or to a child cancel their worlds. The children are killed when this
/// process dies, or gets a second one of these, or SIGHUP or SIGQUIT (which it then raises again).
/// rank_main must not throw.
///
/// limit     at which rank_main cancels its world. Children that still run `patience` after it, or
///           after a signal to this process, are killed
/// Throws    system_failure if the children cannot be started
[[nodiscard]] rank_result run_local_ranks(rank_t ranks, const std::optional<time_limit>& limit,
                                          const rank_main_function& rank_main);

}  // namespace cairn
