// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <thread>

#include <cairn/core/settings.hpp>

#include "core/interrupt.hpp"

namespace cairn {

/// When the worlds of a run are cancelled. All processes of a machine measure the same time.
struct time_limit {
  std::chrono::steady_clock::time_point end;
  std::chrono::milliseconds length;

  /// The limit of a run that begins now; nothing without --timeout.
  [[nodiscard]] static std::optional<time_limit> from_now(const settings& config);
};

/// Cancels the worlds of a handler at the time limit, from a thread of its own.
class timed_stop {
 public:
  /// Throws    system_failure if the thread cannot be started
  timed_stop(interrupt_handler& worlds, const std::optional<time_limit>& limit);

 private:
  std::jthread timer_;
};

}  // namespace cairn
