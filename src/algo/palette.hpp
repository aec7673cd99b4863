// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::algo {

/// Finds the least colour that none of a vertex's neighbours has. One worker's.
class palette {
 public:
  /// Of a vertex: as many as its edges, and one.
  void resize(std::size_t colours) { last_seen_.resize(colours); }

  void begin_vertex() { ++now_; }
  void see(std::uint32_t colour) { last_seen_[colour] = now_; }
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
