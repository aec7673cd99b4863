// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace cairn::algo {

/// Chooses how many buckets delta-stepping processes as one.
///
/// Each group costs two epochs and a reduction, whatever it contains. Groups grow until they take
/// several times as long as the shortest one, which contains little else. Larger groups would save
/// less time than their additional wasted relaxations take, so groups that take far longer shrink.
///
/// A pure state machine: the caller measures.
class group_choice {
 public:
  static constexpr std::uint64_t max_size = std::uint64_t{1} << 20;
  static constexpr std::uint64_t times_of_shortest = 8, far_longer = 8 * times_of_shortest;

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// A group of size() buckets took this long on the slowest rank.
  void took(std::uint64_t ns) noexcept {
    shortest_ns_ = std::min(shortest_ns_, ns);
    if (ns / times_of_shortest < shortest_ns_) {
      size_ = std::min(2 * size_, max_size);
    } else if (ns / far_longer > shortest_ns_) {
      size_ = std::max<std::uint64_t>(size_ / 2, 1);
    }
  }

 private:
  std::uint64_t size_ = 1, shortest_ns_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace cairn::algo
