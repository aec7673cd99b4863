// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
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

/// The blocks for one rank that wait to be sent as one packet. They are sent when they fill the
/// packet, or when the first of them is old.
///
/// Pure: no clock and no network.
/// Cost       O(1), amortised for push()
/// Memory     the waiting blocks: less than a packet of them once take() has returned none
/// Source     [GMT14] section IV.C
class aggregation_queue {
 public:
  struct limits {
    std::size_t bytes = 0;     ///< of blocks and their entries in a packet; one block may exceed it
    std::uint64_t age_ns = 0;  ///< after which blocks leave
  };

  explicit aggregation_queue(const limits& l) noexcept : limits_(l) {}

  void push(outgoing_block&& b, std::uint64_t now_ns) {
    const auto more = sizeof(bundle_entry) + b.items.size();
    if (empty() || packets_.back().bytes + more > limits_.bytes) packets_.emplace_back();
    auto& last = packets_.back();
    if (last.blocks.empty()) last.since_ns = now_ns;
    last.bytes += more;
    last.blocks.push_back(std::move(b));
  }
  [[nodiscard]] bool empty() const noexcept { return packets_.empty(); }

  /// Removes and returns the blocks of the next packet, in order; empty if no packet is due.
  ///
  /// all   each packet is due, however young
  [[nodiscard]] std::vector<outgoing_block> take(std::uint64_t now_ns, bool all = false) {
    if (empty()) return {};
    auto& first = packets_.front();
    const bool full = packets_.size() > 1 || first.bytes >= limits_.bytes;
    if (!full && !all && now_ns - first.since_ns < limits_.age_ns) return {};
    auto blocks = std::move(first.blocks);
    packets_.pop_front();
    return blocks;
  }

 private:
  struct packet {
    std::vector<outgoing_block> blocks;
    std::size_t bytes = 0;
    std::uint64_t since_ns = 0;  // of the first block
  };
  limits limits_;
  std::list<packet> packets_;  // an empty deque takes 0.6 KiB
};

}  // namespace cairn
