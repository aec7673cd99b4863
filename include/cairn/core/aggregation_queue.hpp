// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cairn/core/buffer.hpp>

namespace cairn {

/// A filled block on its way to another rank.
struct outgoing_block {
  buffer items;
  std::size_t messages = 0;
  worker_t filled_by = main_worker;
};

/// Precedes each block in a bundle, which is one packet of several blocks.
struct bundle_entry {
  packet_header header;
  std::uint64_t bytes = 0;  ///< of the block
};

/// The blocks for one rank that wait to leave in one packet. They leave when they fill it, or when
/// the first of them is old.
///
/// Pure: no clock and no network.
/// Source     [GMT14] section IV.C
class aggregation_queue {
 public:
  struct limits {
    std::size_t bytes = 0;     ///< of blocks and their entries in a packet; one block may exceed it
    std::uint64_t age_ns = 0;  ///< after which blocks leave
  };

  void push(outgoing_block&& b, std::uint64_t now_ns) {
    waiting_.push_back({std::move(b), now_ns});
  }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

  /// How many of the first blocks leave together now; 0: none.
  [[nodiscard]] std::size_t due(const limits& most, std::uint64_t now_ns) const noexcept {
    if (empty()) return 0;
    std::size_t n = 0, bytes = 0;
    for (; n < waiting_.size(); ++n) {
      const auto more = sizeof(bundle_entry) + waiting_[n].block.items.size();
      if (n > 0 && bytes + more > most.bytes) break;
      bytes += more;
    }
    const bool full = n < waiting_.size() || bytes >= most.bytes;
    return full || now_ns - waiting_.front().since_ns >= most.age_ns ? n : 0;
  }
  /// Removes the first n blocks, in order.
  [[nodiscard]] std::vector<outgoing_block> take(std::size_t n) {
    std::vector<outgoing_block> first;
    for (std::size_t i = 0; i < n; ++i) first.push_back(std::move(waiting_[i].block));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(n));
    return first;
  }

 private:
  struct waiting {
    outgoing_block block;
    std::uint64_t since_ns;
  };
  std::vector<waiting> waiting_;
};

}  // namespace cairn
