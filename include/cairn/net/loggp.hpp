// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <cairn/hw/virtual_clock.hpp>
#include <cairn/net/simulated.hpp>

namespace cairn::net {

/// The cost of a packet, in the terms of [Alexandrov95].
struct loggp {
  double latency_ns = 1500;  ///< L: from one end of the wire to the other
  double overhead_ns = 300;  ///< o: at the sender, and at the receiver
  double gap_ns = 100;       ///< g: between the end of a packet and the next, at each end
  double byte_ns = 0.1;      ///< G: between two bytes of a packet
};

struct loggp_options {
  std::size_t max_packet = 8u << 10;
  /// Called before rank `from` sends a packet, so that its clock can advance by the work done so
  /// far.
  std::function<void(rank_t from)> before_send = {};
  /// Called when a packet will arrive at rank `to` at that time or later.
  std::function<void(rank_t to, std::uint64_t time_ns)> expect = {};
};

/// A network with LogGP costs. Packets are neither lost, refused nor reordered.
///
/// Packets of k bytes leave an end one after another, (k - 1) G + g apart, and arrive at the other
/// end in the same way. A single packet is delivered 2 o + L + (k - 1) G after send() was called.
/// The clock shows the time of the calling rank; each send and each delivery advances it by o.
///
/// Source    [Alexandrov95]; the equal occupancy of the receiving end is our addition
class loggp_network final : public simulated_network {
 public:
  /// The clock outlives the network.
  loggp_network(rank_t ranks, hw::virtual_clock& clock, const loggp& costs,
                loggp_options options = {});

  [[nodiscard]] std::size_t packet_cost() const noexcept override;
  /// The time of the next arrival at that rank, if it is later than `after_ns`.
  [[nodiscard]] std::optional<std::uint64_t> next_due_ns(rank_t rank, std::uint64_t after_ns) const;

 private:
  struct link_times {
    std::uint64_t out_free_ns = 0, in_free_ns = 0;
  };

  bool send(rank_t from, rank_t to, std::span<const std::byte> packet) override;
  std::size_t poll(rank_t at, const transport::sink& deliver) override;
  [[nodiscard]] std::uint64_t tail_ns(std::size_t packet_bytes) const noexcept;
  [[nodiscard]] std::uint64_t arrival_ns(rank_t at) const;  // of the next packet
  [[nodiscard]] link_times& times_of(rank_t rank) {
    return link_times_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const link_times& times_of(rank_t rank) const {
    return link_times_[static_cast<std::size_t>(rank)];
  }

  hw::virtual_clock& clock_;
  std::uint64_t latency_ns_, overhead_ns_, gap_ns_;
  double byte_ns_;
  loggp_options options_;
  std::vector<link_times> link_times_;
};

}  // namespace cairn::net
