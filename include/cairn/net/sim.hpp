// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/net/transport.hpp>

namespace cairn::net {

struct sim_options {
  std::uint64_t latency_ns = 1500;  ///< mean time from send to arrival
  std::size_t max_packet = 8u << 10;
  /// One send in so many finds no room; 0: never. At most `most_refusals` in a row.
  std::uint64_t refuse_one_in = 16;
  unsigned most_refusals = 4;
};

/// What passed through a simulated network.
struct sim_traffic {
  std::uint64_t packets = 0, bytes = 0;  ///< that send() took
  std::uint64_t delivered = 0;           ///< packets handed over by poll()
  std::uint64_t refused = 0;             ///< times that send() found no room
};

/// The packets in flight between the ranks of a simulated cluster, and when they are due.
///
/// A packet takes half to one and a half times the latency, one in sixteen up to eight times
/// as long, so packets overtake each other, also those of one pair. Equal seeds and equal
/// calls give equal flights.
///
/// Memory    of the packets in flight
/// Thread-safety: none; one thread runs a simulated cluster.
class sim_network {
 public:
  /// The random numbers and the clock outlive the network.
  sim_network(rank_t ranks, random64& random, const hw::clock& clock,
              const sim_options& options = {});

  [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(inboxes_.size()); }
  [[nodiscard]] const sim_options& options() const noexcept { return options_; }
  [[nodiscard]] const sim_traffic& traffic() const noexcept { return traffic_; }
  [[nodiscard]] std::size_t in_flight() const noexcept;

  /// The moment of the next arrival, if one is to come later than now. O(ranks).
  [[nodiscard]] std::optional<std::uint64_t> next_due_ns() const;

 private:
  friend class sim_transport;
  struct flight {
    std::uint64_t due_ns = 0;
    std::uint64_t number = 0;  // in order of sending, so that equal moments have an order too
    rank_t from = 0;
    std::vector<std::byte> packet;
    // For heaps whose front is what comes first.
    bool operator<(const flight& other) const noexcept {
      return due_ns != other.due_ns ? due_ns > other.due_ns : number > other.number;
    }
  };
  struct inbox {
    std::vector<flight> flights;  // a heap
    bool closed = false;
  };

  std::uint64_t flight_time_ns();

  random64& random_;
  const hw::clock& clock_;
  sim_options options_;
  sim_traffic traffic_;
  std::vector<inbox> inboxes_;
};

/// One rank's end of a simulated network; one for each rank. What is on its way to a rank whose
/// end is gone is lost, as when a process has ended.
class sim_transport final : public transport {
 public:
  sim_transport(sim_network& network, rank_t self);
  ~sim_transport() override;

  [[nodiscard]] rank_t self() const noexcept override { return self_; }
  [[nodiscard]] rank_t size() const noexcept override { return network_.ranks(); }
  [[nodiscard]] std::size_t max_packet() const noexcept override;
  [[nodiscard]] std::size_t best_packet() const noexcept override;
  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> packet) override;
  std::size_t poll(const sink& deliver) override;

 private:
  sim_network& network_;
  rank_t self_;
  unsigned refusals_ = 0;  // in a row
};

}  // namespace cairn::net
