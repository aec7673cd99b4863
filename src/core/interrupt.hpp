// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cairn/core/world.hpp>

#include "core/stop_cause.hpp"

namespace cairn {

/// The signals that cancel a run.
inline constexpr std::array cancelling_signals{SIGINT, SIGTERM};

/// A signal that comes this soon after the first one belongs to it: timeout(1), a terminal and
/// mpiexec may each signal a process and its group.
inline constexpr std::uint64_t same_request_ns = 200'000'000;

/// How long a rank that was asked to stop may take to end; then it is killed.
inline constexpr std::chrono::seconds patience{5};

/// During its lifetime SIGINT and SIGTERM cancel the worlds that run in this process; afterwards
/// the previous actions are restored. A signal before any world runs cancels the first one. An
/// ignored signal stays ignored.
///
/// A signal handler reaches only process-wide state. Of several such objects, in one thread or in
/// several, only the first gets signals; the others can only be stopped by stop().
class interrupt_handler {
 public:
  /// The effect of a second signal, later than same_request_ns. `kills`: the
  /// default action, at once. `nothing`: another process handles it.
  enum class second { kills, nothing };

  /// worlds   maximum number of worlds that run at a time
  interrupt_handler(second then, std::size_t worlds);
  ~interrupt_handler();
  interrupt_handler(const interrupt_handler&) = delete;
  interrupt_handler& operator=(const interrupt_handler&) = delete;

  /// Cancels the worlds as a signal does. The first cause is kept. Any thread.
  void stop(stop_cause cause) noexcept;
  /// The cause of the first request; none so far: any() is false. Any thread.
  [[nodiscard]] stop_cause cause() const noexcept { return stop_cause(cause_.load()); }

  /// Whether a signal has asked the worlds of this process to stop. Async-signal-safe.
  [[nodiscard]] static bool was_asked_to_stop() noexcept;

  /// Registers a world that the handler cancels during this object's lifetime.
  class interruptible {
   public:
    interruptible(interrupt_handler& handler, world& w);
    ~interruptible();
    interruptible(const interruptible&) = delete;
    interruptible& operator=(const interruptible&) = delete;

   private:
    std::atomic<world*>* slot_;
  };

 private:
  static void on_signal(int number) noexcept;
  void cancel_worlds() noexcept;
  void kill_if_asked_again(int number) noexcept;

  const second second_;
  std::vector<std::atomic<world*>> worlds_;
  std::atomic<std::uint64_t> cause_{0};
  std::atomic<std::uint64_t> first_signal_ns_{0};
  bool acts_ = false;
  std::array<struct sigaction, cancelling_signals.size()> before_{};
};

}  // namespace cairn
