// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <cairn/core/buffer.hpp>

namespace cairn {

/// Cuts packets that are too large for the transport into fragments, and joins arriving fragments
/// in any order.
///
/// Memory    the payloads that have arrived in part
/// Thread-safety: none
class fragments {
 public:
  explicit fragments(std::size_t max_packet) : max_packet_(max_packet) {}

  /// Calls send(packet) for each fragment of a packet.
  template <class Send>
  void cut(std::span<const std::byte> packet, Send&& send) {
    const auto payload = packet.size() - sizeof(packet_header);
    const auto max_bytes = max_packet_ - sizeof(packet_header) - sizeof(fragment_header);
    const auto sequence = next_sequence_++;
    for (std::size_t offset = 0; offset < payload; offset += max_bytes) {
      send(fragment_of(packet, {payload, offset, sequence}, max_bytes));
    }
  }

  /// Accepts one fragment; returns the whole payload with the last one. Fragments may arrive in any
  /// order, interleaved with those of other packets.
  [[nodiscard]] std::optional<buffer> join(rank_t from, std::span<const std::byte> fragment);

 private:
  struct fragment_header {
    std::uint64_t total = 0, offset = 0, sequence = 0;  // payload bytes; sequence per sender
  };
  struct partial {
    buffer whole;
    std::size_t missing = 0;
  };
  std::span<const std::byte> fragment_of(std::span<const std::byte> packet,
                                         const fragment_header& header, std::size_t max_bytes);

  std::size_t max_packet_;
  std::uint64_t next_sequence_ = 0;
  std::vector<std::byte> fragment_;
  std::map<std::pair<rank_t, std::uint64_t>, partial> partials_;
};

}  // namespace cairn
