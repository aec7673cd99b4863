// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cairn {

/// Whether the thread of progress_style::automatic rests: over the last window the workers have
/// polled often enough to find a message soon. A worker that computes for long, or that runs many
/// handlers between two polls, polls too rarely.
///
/// A pure state machine, used by one thread.
class rest_choice {
 public:
  /// A request and its answer may wait for two polls of a worker. The thread needs about 20 us for
  /// them on a core that it shares with that worker.
  static constexpr std::uint64_t rarely_ns = 20'000;
  /// The time that the thread sleeps while it rests.
  static constexpr std::uint64_t window_ns = 1'000'000;

  /// polls   of all workers so far
  [[nodiscard]] bool rests(std::uint64_t polls, std::uint64_t now_ns) noexcept {
    const auto passed = now_ns - begin_ns_;
    if (passed < window_ns) return rests_;
    rests_ = (polls - polls_before_) * rarely_ns > passed;
    polls_before_ = polls;
    begin_ns_ = now_ns;
    return rests_;
  }

  /// What rests() returned last.
  [[nodiscard]] bool rested() const noexcept { return rests_; }

 private:
  bool rests_ = false;
  std::uint64_t polls_before_ = 0, begin_ns_ = 0;
};

}  // namespace cairn
