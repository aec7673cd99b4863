// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cairn/base/types.hpp>

namespace cairn::obs {

/// Buffers that one rank has given to its transport for another, or for all others.
struct sent_amount {
  std::uint64_t messages = 0;  ///< in channels' buffers, forwarded ones included
  std::uint64_t bytes = 0;     ///< headers included
  std::uint64_t buffers = 0;   ///< those of collectives included

  sent_amount& operator+=(const sent_amount& b) noexcept {
    messages += b.messages;
    bytes += b.bytes;
    buffers += b.buffers;
    return *this;
  }
  sent_amount& operator-=(const sent_amount& b) noexcept {
    messages -= b.messages;
    bytes -= b.bytes;
    buffers -= b.buffers;
    return *this;
  }
};

/// One rank's row of the traffic matrix: what it has sent to each rank. With more than max_ranks
/// ranks it is one sum over all receivers, so that no rank's memory depends on their number.
///
/// Thread-safety  none
class traffic_row {
 public:
  static constexpr rank_t max_ranks = 64;

  explicit traffic_row(rank_t ranks)
      : to_(ranks <= max_ranks ? static_cast<std::size_t>(ranks) : 1) {}

  void add(rank_t to, const sent_amount& sent) noexcept {
    to_[to_.size() == 1 ? 0 : static_cast<std::size_t>(to)] += sent;
  }
  /// By receiver, or one sum.
  [[nodiscard]] const std::vector<sent_amount>& amounts() const noexcept { return to_; }

 private:
  std::vector<sent_amount> to_;
};

}  // namespace cairn::obs
