// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <cairn/hw/virtual_clock.hpp>
#include <cairn/net/transport.hpp>

namespace cairn::net {

/// What a packet costs, in the words of [Alexandrov95].
struct loggp {
  double latency_ns = 1500;  ///< L: from one end of the wire to the other
  double overhead_ns = 300;  ///< o: of the rank that sends, and of the one that takes in
  double gap_ns = 100;       ///< g: between the end of a packet and the next, at each end
  double byte_ns = 0.1;      ///< G: between two bytes of a packet
};

struct loggp_options {
  std::size_t max_packet = 8u << 10;
  /// Before rank `from` gives a packet out: a chance to move its clock by what it did so far.
  std::function<void(rank_t from)> before_send = {};
  /// A packet will have come at rank `to` at that moment or later.
  std::function<void(rank_t to, std::uint64_t moment_ns)> expect = {};
};

/// A network whose packets take the time that LogGP says: neither lost, refused nor overtaken.
///
/// Packets of k bytes leave an end one after another, (k - 1) G + g each, and so they come in at
/// the other. Alone, a packet is handed over 2 o + L + (k - 1) G after send() was called. The
/// clock shows the time of the rank that calls, and is moved by o.
///
/// Memory    of the packets in flight
/// Thread-safety: none; one thread runs a simulated cluster.
/// Source    [Alexandrov95]; that the receiving end is busy as long is ours
class loggp_network {
 public:
  /// The clock outlives the network.
  loggp_network(rank_t ranks, hw::virtual_clock& clock, const loggp& costs,
                loggp_options options = {});

  [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(ends_.size()); }
  [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  /// The moment of the next arrival at that rank, if one is to come later than `after_ns`.
  [[nodiscard]] std::optional<std::uint64_t> next_due_ns(rank_t rank, std::uint64_t after_ns) const;

 private:
  friend class loggp_transport;
  struct flight {
    std::uint64_t first_ns = 0;  // when its first byte comes, if the way in is free
    std::uint64_t number = 0;
    rank_t from = 0;
    std::vector<std::byte> packet;
    // For heaps whose front is what comes first.
    bool operator<(const flight& other) const noexcept {
      return first_ns != other.first_ns ? first_ns > other.first_ns : number > other.number;
    }
  };
  struct end {
    std::uint64_t out_free_ns = 0, in_free_ns = 0;
    std::vector<flight> flights;  // a heap
    bool closed = false;
  };

  [[nodiscard]] std::uint64_t tail_ns(std::size_t packet_bytes) const noexcept;
  [[nodiscard]] std::uint64_t arrival_ns(const end& at) const noexcept;  // of the next

  hw::virtual_clock& clock_;
  std::uint64_t latency_ns_, overhead_ns_, gap_ns_;
  double byte_ns_;
  loggp_options options_;
  std::uint64_t packets_ = 0, bytes_ = 0;
  std::vector<end> ends_;
};

/// One rank's end of such a network. What is on its way to a rank whose end is gone is lost.
class loggp_transport final : public transport {
 public:
  loggp_transport(loggp_network& network, rank_t self);
  ~loggp_transport() override;

  [[nodiscard]] rank_t self() const noexcept override { return self_; }
  [[nodiscard]] rank_t size() const noexcept override { return network_.ranks(); }
  [[nodiscard]] std::size_t max_packet() const noexcept override;
  [[nodiscard]] std::size_t best_packet() const noexcept override;
  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> packet) override;
  std::size_t poll(const sink& deliver) override;

 private:
  loggp_network& network_;
  rank_t self_;
};

}  // namespace cairn::net
