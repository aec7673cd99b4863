// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include <cairn/core/fragments.hpp>
#include <cairn/net/transport.hpp>
#include <cairn/obs/counters.hpp>

namespace cairn {

/// Packets on their way to the transport. A packet for which the transport has no room is kept in
/// memory, so that a send never blocks. Packets to one rank keep their order.
///
/// Memory    the waiting packets
/// Thread-safety: any thread may call pending_bytes(); callers of the others hold the world's
///                network lock
class outbox {
 public:
  outbox(net::transport& net, fragments& cutting, obs::counters& counters)
      : net_(net),
        cutting_(cutting),
        counters_(counters),
        waiting_(static_cast<std::size_t>(net.size())) {}

  /// Sends a packet (header and payload) of any size.
  void send(worker_t w, rank_t to, std::span<const std::byte> packet);
  /// Passes waiting packets to the transport while it has room.
  void drain(worker_t w);

  /// Bytes that wait for room. Any thread.
  [[nodiscard]] std::size_t pending_bytes() const noexcept {
    return pending_bytes_.load(std::memory_order_relaxed);
  }
  /// Whether all packets have left this rank.
  [[nodiscard]] bool empty() { return pending_bytes() == 0 && net_.flushed(); }

 private:
  void enqueue(rank_t to, std::span<const std::byte> packet);

  net::transport& net_;
  fragments& cutting_;
  obs::counters& counters_;
  std::vector<std::list<std::vector<std::byte>>> waiting_;  // an empty deque takes 0.6 KB
  std::atomic<std::size_t> pending_bytes_{0};
};

}  // namespace cairn
