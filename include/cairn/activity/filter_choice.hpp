// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace cairn::activity {

/// Whether a worker uses its sent-filter, chosen by the share of messages that the filter drops.
///
/// The filter costs a look-up for each message, which may miss the cache, and saves the dropped
/// ones. While it drops less than one message in 32 over a window of messages, it is left out.
/// After a wait, which doubles up to a bound, one window tries it again: the share grows as a
/// search goes on. Messages that pass unasked are not mirrored, which only makes the mirrors
/// weaker.
///
/// A pure state machine.
class filter_choice {
 public:
  static constexpr std::uint64_t window = 4096, first_wait = 4 * window, longest_wait = 64 * window,
                                 min_share = 32;

  /// Whether the next messages ask the filter.
  [[nodiscard]] bool asks() const noexcept { return left_out_ == 0; }
  /// Takes in a span of messages that were offered to the filter, or would have been, and how many
  /// of them it dropped. Returns whether asks() has changed.
  bool done(std::uint64_t offered, std::uint64_t dropped) noexcept {
    if (!asks()) {
      left_out_ -= std::min(left_out_, offered);
      return asks();
    }
    offered_ += offered;
    dropped_ += dropped;
    if (offered_ < window) return false;
    const bool pays = min_share * dropped_ >= offered_;
    offered_ = dropped_ = 0;
    if (pays) {
      wait_ = first_wait;
      return false;
    }
    left_out_ = wait_;
    wait_ = std::min(2 * wait_, longest_wait);
    return true;
  }

 private:
  std::uint64_t offered_ = 0, dropped_ = 0;  // in this window
  std::uint64_t left_out_ = 0;               // messages to come that do not ask
  std::uint64_t wait_ = first_wait;
};

}  // namespace cairn::activity
