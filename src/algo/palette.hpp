// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::algo {

/// Finds the smallest color that no neighbor of a vertex has. Used by one worker.
class palette {
 public:
  void begin_vertex(std::uint64_t degree) {
    ++now_;
    if (last_seen_.size() <= degree) last_seen_.resize(2 * degree + 1);
  }
  /// Records the color of a neighbor; ignores colors too large to matter.
  void see(std::uint32_t color) {
    if (color < last_seen_.size()) last_seen_[color] = now_;
  }
  /// At most the vertex's degree.
  [[nodiscard]] std::uint32_t smallest_unused() const {
    std::uint32_t c = 0;
    while (last_seen_[c] == now_) ++c;
    return c;
  }

 private:
  std::vector<std::uint64_t> last_seen_;  // by color: number of the vertex
  std::uint64_t now_ = 0;                 // number of the current vertex
};

}  // namespace cairn::algo
