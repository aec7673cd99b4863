// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
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
  /// give_up   called if this object still lives `patience` later, when the rank does not react:
  ///           another rank may never have started MPI. Does not return; empty: nothing is called
  /// Throws    system_failure if the thread cannot be started
  timed_stop(interrupt_handler& worlds, const std::optional<time_limit>& limit,
             std::function<void(stop_cause)> give_up = {});

 private:
  std::jthread timer_;
};

}  // namespace cairn
