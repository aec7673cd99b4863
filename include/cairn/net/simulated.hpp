// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <cairn/net/transport.hpp>

namespace cairn::net {

/// Traffic of a simulated network.
struct simulated_traffic {
  std::uint64_t packets = 0, bytes = 0;  ///< accepted by send()
  std::uint64_t delivered = 0;           ///< packets delivered by poll()
  std::uint64_t refused = 0;             ///< times that send() found no room
};

/// The packets in flight between the ranks of a simulated cluster. The derived network decides when
/// they arrive and what that costs.
///
/// Memory    the packets in flight
/// Thread-safety: none; one thread runs a simulated cluster.
class simulated_network {
 public:
  virtual ~simulated_network() = default;

  [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(arrivals_.size()); }
  [[nodiscard]] std::size_t max_packet() const noexcept { return max_packet_; }
  [[nodiscard]] virtual std::size_t packet_cost() const noexcept { return 128; }
  [[nodiscard]] const simulated_traffic& traffic() const noexcept { return traffic_; }
  [[nodiscard]] std::size_t in_flight() const noexcept;

 protected:
  struct flight {
    std::uint64_t time_ns = 0;
    std::uint64_t number = 0;  // in order of sending; breaks ties
    rank_t from = 0;
    std::vector<std::byte> packet;
    // Puts the earliest flight at the front of a heap.
    bool operator<(const flight& other) const noexcept {
      return time_ns != other.time_ns ? time_ns > other.time_ns : number > other.number;
    }
  };
  struct arrivals {
    std::vector<flight> flights;  // a heap
    bool closed = false;
  };

  simulated_network(rank_t ranks, std::size_t max_packet);

  [[nodiscard]] const std::vector<arrivals>& arrivals_by_rank() const noexcept { return arrivals_; }
  [[nodiscard]] const std::vector<flight>& flights_to(rank_t rank) const {
    return arrivals_[static_cast<std::size_t>(rank)].flights;
  }
  /// Returns whether the destination still receives.
  bool enqueue(rank_t from, rank_t to, std::uint64_t time_ns, std::span<const std::byte> packet);
  void refuse() noexcept { ++traffic_.refused; }
  /// Delivers the earliest packet.
  void deliver_first(rank_t at, const transport::sink& deliver);

 private:
  friend class simulated_transport;
  virtual bool send(rank_t from, rank_t to, std::span<const std::byte> packet) = 0;
  virtual std::size_t poll(rank_t at, const transport::sink& deliver) = 0;

  std::size_t max_packet_;
  simulated_traffic traffic_;
  std::vector<arrivals> arrivals_;
};

/// One rank's end of a simulated network; there is one per rank. Packets in flight to a rank whose
/// end was destroyed are lost, as when a process has ended.
class simulated_transport final : public transport {
 public:
  simulated_transport(simulated_network& network, rank_t self);
  ~simulated_transport() override;

  [[nodiscard]] rank_t self() const noexcept override { return self_; }
  [[nodiscard]] rank_t size() const noexcept override { return network_.ranks(); }
  [[nodiscard]] std::size_t max_packet() const noexcept override { return network_.max_packet(); }
  [[nodiscard]] std::size_t best_packet() const noexcept override;
  [[nodiscard]] std::size_t packet_cost() const noexcept override { return network_.packet_cost(); }
  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> packet) override;
  std::size_t poll(const sink& deliver) override { return network_.poll(self_, deliver); }

 private:
  simulated_network& network_;
  rank_t self_;
};

}  // namespace cairn::net
