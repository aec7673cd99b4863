// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <cairn/base/random.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/net/simulated.hpp>

namespace cairn::net {

struct sim_options {
  std::uint64_t latency_ns = 1500;  ///< most packets take 0.5 to 1.5 times this
  std::size_t max_packet = 8u << 10;
  /// One send in `refuse_one_in` finds no room; 0: none. At most `max_refusals` in a row.
  std::uint64_t refuse_one_in = 16;
  unsigned max_refusals = 4;
  /// One network in `slow_one_in` has a slow rank; 0: none.
  std::uint64_t slow_one_in = 4;
  /// After one packet in `quiet_one_in`, later ones to its rank wait for a while; 0: never.
  std::uint64_t quiet_one_in = 256;
};

/// A network with random delays.
///
/// A packet takes 0.5 to 1.5 times the latency, and one packet in sixteen up to eight times the
/// latency, so packets are reordered, also between one pair of ranks. Packets to and from a slow
/// rank take four times as long. Packets that would arrive in a quiet time, of up to 64 times the
/// latency, arrive together at its end. Equal seeds and equal calls give equal delays.
class sim_network final : public simulated_network {
 public:
  /// The random numbers and the clock outlive the network.
  sim_network(rank_t ranks, random64& random, const hw::clock& clock,
              const sim_options& options = {});

  /// The time of the next arrival, if it is in the future. O(ranks).
  [[nodiscard]] std::optional<std::uint64_t> next_due_ns() const;

 private:
  bool send(rank_t from, rank_t to, std::span<const std::byte> packet) override;
  std::size_t poll(rank_t at, const transport::sink& deliver) override;
  std::uint64_t arrival_ns(rank_t from, rank_t to);

  random64& random_;
  const hw::clock& clock_;
  sim_options options_;
  std::vector<unsigned> refusals_;             // of each rank, in a row
  rank_t slow_ = -1;                           // -1: no rank
  std::vector<std::uint64_t> quiet_until_ns_;  // at each rank
};

}  // namespace cairn::net
