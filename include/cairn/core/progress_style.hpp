// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/base/types.hpp>

namespace cairn {

/// Who moves a rank's messages while its workers compute.
///
///   poll       the workers, between two chunks and while they wait
///   thread     also a thread beside them. It receives packets, sends what waited for room, and
///              runs the handlers of standing channels; those of epochs remain with the workers
///   automatic  that thread, which wakes every millisecond and acts only if no worker polls
///
/// Source     [DC15] section V.B; [AM++]
enum class progress_style { automatic, poll, thread };

/// Threads that may run handlers on a rank: its workers, and the progress thread, whose worker
/// number is `workers`.
[[nodiscard]] constexpr int handling_threads(progress_style style, int workers,
                                             rank_t ranks) noexcept {
  return style == progress_style::poll || ranks == 1 ? workers : workers + 1;
}

}  // namespace cairn
