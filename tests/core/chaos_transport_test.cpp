// SPDX-License-Identifier: Apache-2.0
// The hostile network of the tests: what it may do to packets, and what it may not.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <span>

#include <gtest/gtest.h>

#include <cairn/net/ring.hpp>

#include <support/chaos_transport.hpp>

namespace cairn::chaos_transport_test {
namespace {

struct arrivals {
  std::size_t largest_burst = 0, longest_silence = 0;  // packets of one poll; polls without any
  std::size_t polls = 0, empty_polls = 0;
  bool reordered = false;

  [[nodiscard]] double silent_share() const {
    return static_cast<double>(empty_polls) / static_cast<double>(polls);
  }
};

// Rank 0 sends numbers, rank 1 receives each of them once.
arrivals receive_all(std::uint64_t seed, std::uint32_t num_packets) {
  const auto fabric = std::make_shared<const net::ring_fabric>(2);
  const auto end_of = [&](rank_t r) {
    return support::chaos_transport(std::make_unique<net::ring_transport>(fabric, r), seed);
  };
  auto sender = end_of(0), receiver = end_of(1);
  arrivals seen;
  std::set<std::uint32_t> received;
  std::uint32_t sent = 0;
  std::size_t silence = 0;
  for (int step = 0; step < 1 << 22 && received.size() < num_packets; ++step) {
    if (sent < num_packets && sender.send(1, std::as_bytes(std::span(&sent, 1)))) ++sent;
    const auto taken = receiver.poll([&](rank_t from, std::span<const std::byte> packet) {
      std::uint32_t number = 0;
      ASSERT_EQ(packet.size(), sizeof number);
      std::memcpy(&number, packet.data(), sizeof number);
      EXPECT_EQ(from, 0);
      if (!received.empty() && number < *received.rbegin()) seen.reordered = true;
      EXPECT_TRUE(received.insert(number).second) << number << " arrived twice";
    });
    ++seen.polls;
    seen.empty_polls += taken == 0;
    silence = taken == 0 ? silence + 1 : 0;
    seen.longest_silence = std::max(seen.longest_silence, silence);
    seen.largest_burst = std::max(seen.largest_burst, taken);
  }
  EXPECT_EQ(received.size(), num_packets);
  return seen;
}

TEST(ChaosTransport, DeliversEachPacketOnceOutOfOrderAndInBursts) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto seen = receive_all(seed, 20'000);
    EXPECT_TRUE(seen.reordered) << seed;
    EXPECT_GT(seen.longest_silence, 20u) << seed;
    EXPECT_GT(seen.largest_burst, 20u) << seed;
  }
}

TEST(ChaosTransport, SomeSeedsHaveASlowRank) {
  const auto neither = receive_all(2, 20'000).silent_share();
  const auto sender = receive_all(3, 20'000).silent_share();
  const auto receiver = receive_all(7, 20'000).silent_share();
  EXPECT_NEAR(sender, neither, 0.1);
  EXPECT_GT(receiver, neither + 0.2);
}

}  // namespace
}  // namespace cairn::chaos_transport_test
