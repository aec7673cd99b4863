// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace cairn::am {

/// Decides whether messages are offered to a table that combines them, from what became of the last
/// ones that found their place taken: merged, or evicting a message of another key.
///
/// Where fewer than half merge, messages pass by for a while, which doubles each time up to a
/// bound. Then the table is tried again, so that a later phase with few keys is noticed. Places
/// that are still free say nothing: a table is judged once half of a window's messages find a place
/// taken.
///
/// A pure state machine of one worker. Its decisions depend on the messages alone.
class reduction_gate {
 public:
  static constexpr std::uint64_t window = 1024;  ///< messages that decide
  static constexpr std::uint64_t shortest_pause = std::uint64_t{1} << 16;
  static constexpr std::uint64_t longest_pause = std::uint64_t{1} << 22;

  enum class messages_travel { within_a_machine, between_machines };
  explicit reduction_gate(messages_travel extent = messages_travel::within_a_machine) noexcept
      : max_evicted_(extent == messages_travel::within_a_machine ? 1 : 3) {}

  /// Whether the next message is offered. Called once per message.
  [[nodiscard]] bool open() noexcept {
    if (--left_ == 0) [[unlikely]]
      turn();
    return open_;
  }
  /// The offered message found a free place, or evicted another one. Else it was merged.
  void kept() noexcept { ++kept_; }
  void evicted() noexcept { ++evicted_; }

 private:
  void turn() noexcept {
    const auto taken = window - kept_;
    if (!open_ || taken < window / 2 || 4 * evicted_ <= max_evicted_ * taken) {
      if (open_ && taken >= window / 2) pause_ = shortest_pause;
      open_ = true;
      left_ = window;
    } else {
      open_ = false;
      left_ = pause_;
      pause_ = std::min(2 * pause_, longest_pause);
    }
    kept_ = evicted_ = 0;
  }

  std::uint64_t max_evicted_;  // quarters of those that find a place taken
  bool open_ = true;
  std::uint64_t left_ = window;  // messages until the next decision
  std::uint64_t pause_ = shortest_pause;
  std::uint64_t kept_ = 0, evicted_ = 0;
};

}  // namespace cairn::am
