// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::algo {

/// Finds the least colour that none of a vertex's neighbours has. One worker's.
class palette {
 public:
  void begin_vertex(std::uint64_t degree) {
    ++now_;
    if (last_seen_.size() <= degree) last_seen_.resize(2 * degree + 1);
  }
  /// Of a neighbour; one above all that matter is ignored.
  void see(std::uint32_t colour) {
    if (colour < last_seen_.size()) last_seen_[colour] = now_;
  }
  /// At most the vertex's degree.
  [[nodiscard]] std::uint32_t least_unseen() const {
    std::uint32_t c = 0;
    while (last_seen_[c] == now_) ++c;
    return c;
  }

 private:
  std::vector<std::uint64_t> last_seen_;  // by colour: at which vertex
  std::uint64_t now_ = 0;                 // counts vertices
};

}  // namespace cairn::algo
