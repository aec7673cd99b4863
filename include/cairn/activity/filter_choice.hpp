// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace cairn::activity {

/// Whether a worker uses its sent-filter, chosen by the share of messages that the filter drops.
///
/// The filter costs a look-up for each message, which may miss the cache, and saves the dropped
/// messages. If it drops less than one message in 32 over a window of messages, it is not used for
/// a while. After a wait, which doubles up to a bound, it is used again for one window, because the
/// share of dropped messages grows during a search. Messages that bypass the filter do not update
/// its mirrors. The filter then drops fewer messages, but never one that could take effect.
///
/// A pure state machine.
class filter_choice {
 public:
  static constexpr std::uint64_t window = 4096, first_wait = 4 * window, longest_wait = 64 * window,
                                 min_share = 32;

  /// Whether the next messages use the filter.
  [[nodiscard]] bool uses_filter() const noexcept { return left_out_ == 0; }
  struct batch {
    std::uint64_t offered;  ///< messages that were offered to the filter, or would have been
    std::uint64_t dropped;  ///< those of them that it dropped
  };
  /// Counts a batch. Returns whether uses_filter() has changed.
  bool done(const batch& b) noexcept {
    if (!uses_filter()) {
      left_out_ -= std::min(left_out_, b.offered);
      return uses_filter();
    }
    offered_ += b.offered;
    dropped_ += b.dropped;
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
  std::uint64_t left_out_ = 0;               // messages to come that bypass the filter
  std::uint64_t wait_ = first_wait;
};

}  // namespace cairn::activity
