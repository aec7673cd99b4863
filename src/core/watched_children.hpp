// SPDX-License-Identifier: Apache-2.0
// What the processes that start and watch ranks share.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <string>

#include <cairn/base/types.hpp>

#include "core/interrupt.hpp"

namespace cairn {

inline constexpr auto same_request = std::chrono::nanoseconds(same_request_ns);
inline constexpr std::chrono::milliseconds between_looks{500};

/// During its lifetime, SIGCHLD and the signals that end a job are blocked and taken by wait().
/// There is no handler, so no state outside this object.
class held_signals {
 public:
  /// also   one more signal to take
  explicit held_signals(int also = SIGCHLD) {
    sigemptyset(&held_);
    sigaddset(&held_, SIGCHLD);
    sigaddset(&held_, also);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      struct sigaction now {};
      sigaction(signal, nullptr, &now);
      if (now.sa_handler != SIG_IGN) sigaddset(&held_, signal);  // ignored signals stay ignored
    }
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &standard, &child_before_);  // if ignored, the kernel reaps
    pthread_sigmask(SIG_BLOCK, &held_, &mask_before_);
  }
  ~held_signals() { restore(); }
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;

  void restore() noexcept {
    sigaction(SIGCHLD, &child_before_, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }

  /// Waits up to `timeout` for a signal; returns its number, or 0 if none came.
  ///
  /// sender   gets the process that sent it
  [[nodiscard]] int wait(std::chrono::milliseconds timeout,
                         pid_t* sender = nullptr) const noexcept {
    const timespec limit{timeout.count() / 1000, timeout.count() % 1000 * 1'000'000};
    siginfo_t arrived{};
    const int signal = sigtimedwait(&held_, &arrived, &limit);
    if (sender != nullptr) *sender = arrived.si_pid;
    return signal > 0 ? signal : 0;
  }

 private:
  sigset_t held_{}, mask_before_{};
  struct sigaction child_before_ {};
};

[[nodiscard]] inline bool cancels(int signal) noexcept {
  return std::ranges::find(cancelling_signals, signal) != cancelling_signals.end();
}

[[nodiscard]] inline std::string killed_sentence(rank_t rank, int signal) {
  const char* const name = sigdescr_np(signal);
  return "rank " + std::to_string(rank) + " was killed by signal " + std::to_string(signal) +
         (name != nullptr ? " (" + std::string(name) + ")" : "");
}

}  // namespace cairn
