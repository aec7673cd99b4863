// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/net/loggp.hpp>

namespace cairn::net::loggp_test {
namespace {

constexpr loggp costs{.latency_ns = 1000, .overhead_ns = 50, .gap_ns = 30, .byte_ns = 2};

struct cluster {
  explicit cluster(rank_t ranks, const loggp& c = costs, loggp_options options = {})
      : network(ranks, clock, c, std::move(options)) {
    for (rank_t r = 0; r < ranks; ++r) {
      ends.push_back(std::make_unique<simulated_transport>(network, r));
    }
  }

  void send_at(std::uint64_t moment, rank_t from, rank_t to, std::size_t bytes) {
    clock.set(moment);
    ASSERT_TRUE(ends[from]->send(to, std::vector<std::byte>(bytes)));
  }
  // Sizes of the packets that rank `to` finds at that moment.
  std::vector<std::size_t> poll_at(std::uint64_t moment, rank_t to) {
    std::vector<std::size_t> sizes;
    clock.set(moment);
    ends[to]->poll([&](rank_t, auto packet) { sizes.push_back(packet.size()); });
    return sizes;
  }
  // When the next packet comes, which is taken in; nothing before.
  std::uint64_t take(rank_t to) {
    const auto due = network.next_due_ns(to, 0);
    if (!due) return 0;
    EXPECT_TRUE(poll_at(*due - 1, to).empty());
    EXPECT_EQ(poll_at(*due, to).size(), 1u);
    return *due;
  }

  hw::virtual_clock clock;
  loggp_network network;
  std::vector<std::unique_ptr<simulated_transport>> ends;
};

TEST(Loggp, APacketTakesLatencyItsBytesAndAnOverheadOfEachEnd) {
  for (const std::size_t bytes : {0u, 1u, 2u, 100u, 8192u}) {
    cluster c(2);
    c.send_at(500, 0, 1, bytes);
    EXPECT_EQ(c.clock.now_ns(), 550u);  // the sender's overhead
    const auto received = 550 + 1000 + (bytes < 2 ? 0 : 2 * (bytes - 1));
    EXPECT_EQ(c.take(1), received) << bytes;
    EXPECT_EQ(c.clock.now_ns(), received + 50);  // the receiver's
    EXPECT_FALSE(c.network.next_due_ns(1, 0));
  }
}

TEST(Loggp, PacketsOfOneRankLeaveOneAfterAnother) {
  cluster c(3);
  c.send_at(0, 0, 1, 101);  // leaves at 50, for 200 and the gap
  c.send_at(50, 0, 2, 1);
  c.send_at(5000, 0, 2, 1);  // the way is free again
  EXPECT_EQ(c.take(1), 50u + 1000 + 200);
  EXPECT_EQ(c.take(2), 50u + 200 + 30 + 1000);
  EXPECT_EQ(c.take(2), 5050u + 1000);
}

TEST(Loggp, PacketsOfManyComeInOneAfterAnother) {
  cluster c(4);
  for (rank_t from = 1; from < 4; ++from) c.send_at(0, from, 0, 101);
  EXPECT_EQ(c.take(0), 50u + 1000 + 200);
  EXPECT_EQ(c.take(0), 50u + 1000 + 200 + 30 + 200);
  EXPECT_EQ(c.take(0), 50u + 1000 + 200 + 2 * (30 + 200));
}

TEST(Loggp, APollTakesAllThatHasComeInOrder) {
  cluster c(2);
  for (std::size_t i = 1; i <= 4; ++i) c.send_at(0, 0, 1, i);
  EXPECT_EQ(c.poll_at(1'000'000, 1), (std::vector<std::size_t>{1, 2, 3, 4}));
  EXPECT_EQ(c.clock.now_ns(), 1'000'000u + 4 * 50);
  EXPECT_EQ(c.network.traffic().packets, 4u);
  EXPECT_EQ(c.network.traffic().bytes, 10u);
}

TEST(Loggp, ArrivalsAreExpectedAndWorkIsChargedBeforeASend) {
  std::vector<std::pair<rank_t, std::uint64_t>> expected;
  cluster* self = nullptr;
  cluster c(2, costs,
            {.before_send = [&](rank_t) { self->clock.advance(7); },
             .expect = [&](rank_t to, std::uint64_t at) { expected.emplace_back(to, at); }});
  self = &c;
  c.send_at(0, 0, 1, 1);
  EXPECT_EQ(expected, (std::vector<std::pair<rank_t, std::uint64_t>>{{1, 7 + 50 + 1000}}));
  EXPECT_EQ(c.take(1), 7u + 50 + 1000);
}

TEST(Loggp, WhatIsOnItsWayToAnEndThatIsGoneIsLost) {
  cluster c(2);
  c.send_at(0, 0, 1, 1);
  c.ends[1].reset();
  EXPECT_FALSE(c.network.next_due_ns(1, 0));
  c.send_at(0, 0, 1, 1);
  EXPECT_FALSE(c.network.next_due_ns(1, 0));
}

}  // namespace
}  // namespace cairn::net::loggp_test
