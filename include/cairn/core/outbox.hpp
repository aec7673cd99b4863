// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include <cairn/core/delivery.hpp>
#include <cairn/core/fragments.hpp>
#include <cairn/net/transport.hpp>
#include <cairn/obs/counters.hpp>
#include <cairn/obs/trace.hpp>
#include <cairn/obs/traffic.hpp>

namespace cairn {

/// Packets on their way to the transport. A packet for which the transport has no room is kept in
/// memory, so that a send never blocks. Packets to one rank keep their order.
///
/// Memory    the waiting packets
/// Thread-safety: any thread may call waiting_bytes(); callers of the others hold the world's
///                network lock
class outbox {
 public:
  /// sender   the thread that alone calls the transport, or any_worker. Packets of others wait for
  ///          its next drain()
  outbox(net::transport& net, fragments& cutting, obs::counters& counters, obs::trace& trace,
         int sender = any_worker)
      : net_(net),
        cutting_(cutting),
        counters_(counters),
        trace_(trace),
        sender_(sender),
        traffic_(net.size()),
        sequences_(trace.wanted() ? static_cast<std::size_t>(net.size()) : 0),
        waiting_(static_cast<std::size_t>(net.size())) {}

  /// Sends a packet (header and payload) of any size; in a traced world it numbers the packet.
  ///
  /// messages  of a channel in the packet
  void send(worker_t k, rank_t to, std::span<std::byte> packet, std::size_t messages = 0);
  /// Passes waiting packets to the transport while it has room.
  void drain(worker_t k);
  /// drain() over a transport that may have failed.
  void try_to_drain(worker_t k) noexcept;

  /// Bytes that wait for room. Any thread.
  [[nodiscard]] std::size_t waiting_bytes() const noexcept {
    return waiting_bytes_.load(std::memory_order_relaxed);
  }
  /// What this rank has sent.
  [[nodiscard]] const obs::traffic_row& traffic() const noexcept { return traffic_; }
  /// Whether all packets have left this rank.
  [[nodiscard]] bool empty() { return waiting_bytes() == 0 && net_.flushed(); }

 private:
  void enqueue(worker_t k, rank_t to, std::span<const std::byte> packet);
  void number_and_describe(obs::trace_span& sent, rank_t to, std::span<std::byte> packet,
                           std::size_t messages);

  net::transport& net_;
  fragments& cutting_;
  obs::counters& counters_;
  obs::trace& trace_;
  const int sender_;
  obs::traffic_row traffic_;
  std::vector<std::uint16_t> sequences_;  // of the next packet, by receiver; only with a trace
  std::vector<std::list<std::vector<std::byte>>> waiting_;  // an empty deque takes 0.6 KiB
  std::atomic<std::size_t> waiting_bytes_{0};
};

}  // namespace cairn
