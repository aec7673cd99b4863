// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::algo {

/// Of how many unused colors a vertex takes one at random: for 32 rounds the smallest alone, then
/// of twice as many in each round. Where ranks choose the same colors, as in dense graphs, a wider
/// choice leaves fewer conflicts, but it may need more colors.
[[nodiscard]] inline std::uint64_t num_choices(std::uint64_t round) {
  constexpr std::uint64_t first_fits = 32, most_doublings = 31;
  if (round < first_fits) return 1;
  return std::uint64_t{1} << std::min(round + 1 - first_fits, most_doublings);
}

/// Finds small colors that no neighbor of a vertex has. Used by one worker.
class palette {
 public:
  void begin_vertex(std::uint64_t degree) {
    ++now_;
    degree_ = degree;
    if (last_seen_.size() <= degree) last_seen_.resize(2 * degree + 1);
  }
  /// Records the color of a neighbor; ignores colors too large to matter.
  void see(std::uint32_t color) {
    if (color < last_seen_.size()) last_seen_[color] = now_;
  }
  /// One of the `most` smallest unused colors, a power of two, by a random number. At most the
  /// vertex's degree.
  [[nodiscard]] std::uint32_t unused(std::uint64_t most, std::uint64_t draw) const {
    for (auto before = draw & (most - 1);;) {
      std::uint64_t unused = 0;
      for (std::uint32_t c = 0; c <= degree_; ++c) {
        if (last_seen_[c] != now_ && unused++ == before) return c;
      }
      before %= unused;
    }
  }

 private:
  std::vector<std::uint64_t> last_seen_;  // by color: number of the vertex
  std::uint64_t now_ = 0, degree_ = 0;    // number and degree of the current vertex
};

}  // namespace cairn::algo
