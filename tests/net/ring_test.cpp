// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/net/ring.hpp>

#include "net/all_pairs.hpp"

namespace cairn::net::ring_test {
namespace {

constexpr std::size_t tiny = 1024;  // so that rings are full, and wrap, all the time

std::vector<std::byte> filled(std::size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

/// Sizes of the packets that one poll brings.
std::vector<std::size_t> poll_sizes(ring_transport& net) {
  std::vector<std::size_t> sizes;
  net.poll([&](rank_t, std::span<const std::byte> p) { sizes.push_back(p.size()); });
  return sizes;
}

struct pair_of_ranks {
  explicit pair_of_ranks(std::size_t ring_bytes)
      : fabric(std::make_shared<ring_fabric>(2, ring_bytes)), a(fabric, 0), b(fabric, 1) {}
  std::shared_ptr<ring_fabric> fabric;
  ring_transport a, b;
};

class RingRanks : public testing::TestWithParam<rank_t> {};

TEST_P(RingRanks, PacketsOfAPairComeWholeAndInOrderThroughTinyRings) {
  const auto ranks = GetParam();
  const auto fabric = std::make_shared<ring_fabric>(ranks, tiny);
  std::vector<std::string> wrong(static_cast<std::size_t>(ranks));
  on_threads(ranks, [&](rank_t r) {
    ring_transport net(fabric, r);
    wrong[static_cast<std::size_t>(r)] = exchange_all_pairs(net, 1000);
  });
  for (const auto& text : wrong) EXPECT_EQ(text, "");
}

TEST_P(RingRanks, PacketsOfAPairComeWholeAndInOrderThroughUsualRings) {
  const auto ranks = GetParam();
  const auto fabric = std::make_shared<ring_fabric>(ranks);
  std::vector<std::string> wrong(static_cast<std::size_t>(ranks));
  on_threads(ranks, [&](rank_t r) {
    ring_transport net(fabric, r);
    wrong[static_cast<std::size_t>(r)] = exchange_all_pairs(net, 25);
  });
  for (const auto& text : wrong) EXPECT_EQ(text, "");
}

INSTANTIATE_TEST_SUITE_P(Ring, RingRanks, testing::Values(1, 2, 3, 8));

/// A broken twin: it delivers what one poll brings in the opposite order.
class backward_transport final : public transport {
 public:
  explicit backward_transport(ring_transport& net) : net_(net) {}
  rank_t self() const noexcept override { return net_.self(); }
  rank_t size() const noexcept override { return net_.size(); }
  std::size_t max_packet() const noexcept override { return net_.max_packet(); }
  std::size_t best_packet() const noexcept override { return net_.best_packet(); }
  bool send(rank_t to, std::span<const std::byte> p) override { return net_.send(to, p); }
  std::size_t poll(const sink& deliver) override {
    net_.poll([&](rank_t from, std::span<const std::byte> p) {
      came_.emplace_back(from, std::vector<std::byte>(p.begin(), p.end()));
    });
    std::size_t taken = 0;
    for (; !came_.empty(); ++taken) {
      const auto last = std::move(came_.back());
      came_.pop_back();
      deliver(last.first, last.second);
    }
    return taken;
  }

 private:
  ring_transport& net_;
  std::vector<std::pair<rank_t, std::vector<std::byte>>> came_;
};

TEST(RingTwin, ThatDeliversBackwardsIsCaught) {
  const auto fabric = std::make_shared<ring_fabric>(2, tiny);
  std::vector<std::string> wrong(2);
  on_threads(2, [&](rank_t r) {
    ring_transport net(fabric, r);
    backward_transport twin(net);
    wrong[static_cast<std::size_t>(r)] = exchange_all_pairs(twin, 2000);
  });
  EXPECT_NE(wrong[0], "");
  EXPECT_NE(wrong[1], "");
}

TEST(Ring, RefusesAPacketWhileFullAndTakesItOnceThereIsRoom) {
  pair_of_ranks ranks(tiny);
  const auto packet = filled(100, 7);
  std::size_t taken = 0;
  while (ranks.a.send(1, packet)) ++taken;
  EXPECT_EQ(taken, tiny / 128);
  EXPECT_FALSE(ranks.a.send(1, packet));
  EXPECT_EQ(poll_sizes(ranks.b).size(), taken);
  EXPECT_TRUE(ranks.a.send(1, packet));
}

// Seen once: a request was lost.
TEST(Ring, HasRoomAgainWhenTheSinkThrewAtEveryPacket) {
  pair_of_ranks ranks(tiny);
  const auto packet = filled(100, 7);
  const auto sink = [](rank_t, std::span<const std::byte>) { throw sink_threw(); };
  while (ranks.a.send(1, packet)) {
  }
  for (std::size_t i = 0; i < tiny / 128; ++i) EXPECT_THROW(ranks.b.poll(sink), sink_threw);
  EXPECT_EQ(ranks.b.poll(sink), 0u);
  EXPECT_TRUE(ranks.a.send(1, packet));
}

TEST(Ring, AFullRingToOnePeerDoesNotStopAnother) {
  const auto fabric = std::make_shared<ring_fabric>(3, tiny);
  ring_transport a(fabric, 0), c(fabric, 2);
  while (a.send(1, filled(200, 1))) {
  }
  EXPECT_TRUE(a.send(2, filled(200, 2)));
  EXPECT_EQ(poll_sizes(c), std::vector<std::size_t>{200});
}

TEST(Ring, AnEmptyRingHasRoomForTheLargestPacketAtEveryOffset) {
  pair_of_ranks ranks(tiny);
  const auto largest = filled(ranks.a.max_packet(), 3);
  for (int step = 0; step < 100; ++step) {
    ASSERT_TRUE(ranks.a.send(1, largest)) << "step " << step;
    ASSERT_EQ(poll_sizes(ranks.b), std::vector<std::size_t>{largest.size()});
    ASSERT_TRUE(ranks.a.send(1, filled(1, 4)));  // moves the next one by a cache line
    ASSERT_EQ(poll_sizes(ranks.b), std::vector<std::size_t>{1});
  }
}

TEST(Ring, RefusesAPacketThatIsTooLarge) {
  pair_of_ranks ranks(tiny);
  EXPECT_THROW(static_cast<void>(ranks.a.send(1, filled(ranks.a.max_packet() + 1, 0))),
               contract_violation);
}

TEST(Ring, APacketWithoutBytesArrives) {
  pair_of_ranks ranks(tiny);
  EXPECT_TRUE(ranks.a.send(1, {}));
  EXPECT_EQ(poll_sizes(ranks.b), std::vector<std::size_t>{0});
}

TEST(Ring, APollBringsWhatEveryPeerHasSent) {
  const auto fabric = std::make_shared<ring_fabric>(3, tiny);
  ring_transport a(fabric, 0), b(fabric, 1), c(fabric, 2);
  ASSERT_TRUE(a.send(2, filled(10, 1)));
  ASSERT_TRUE(b.send(2, filled(20, 2)));
  EXPECT_EQ(poll_sizes(c).size(), 2u);
  EXPECT_EQ(poll_sizes(c).size(), 0u);
}

TEST(Ring, ATransportGoesOnWhereTheOneBeforeItEnded) {
  const auto fabric = std::make_shared<ring_fabric>(2, tiny);
  for (int round = 0; round < 20; ++round) {
    ring_transport a(fabric, 0), b(fabric, 1);
    ASSERT_TRUE(a.send(1, filled(200, round)));
    ASSERT_EQ(poll_sizes(b), std::vector<std::size_t>{200}) << "round " << round;
  }
}

TEST(Ring, FabricOfManyRanksStaysWithinItsMemory) {
  EXPECT_EQ(ring_fabric(2).ring_bytes(), 256u << 10);
  EXPECT_EQ(ring_fabric(16).ring_bytes(), 256u << 10);
  EXPECT_EQ(ring_fabric(32).ring_bytes(), 64u << 10);
  EXPECT_EQ(ring_fabric(64).ring_bytes(), 32u << 10);
  EXPECT_LE(ring_fabric::bytes_needed(32), 65u << 20);
  EXPECT_LE(ring_transport(std::make_shared<ring_fabric>(64), 0).best_packet(), 8u << 10);
}

TEST(Ring, ConnectsProcessesThatShareASegment) {
  const auto memory = segment::shared(ring_fabric::bytes_needed(3));
  const auto rank = [&](rank_t r) {
    ring_transport net(std::make_shared<ring_fabric>(memory, 3), r);
    return exchange_all_pairs(net, 100) == "" ? 0 : 1;
  };
  std::vector<pid_t> children;
  for (rank_t r = 1; r < 3; ++r) {
    const auto child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(rank(r));
    children.push_back(child);
  }
  EXPECT_EQ(rank(0), 0);
  for (const auto child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace cairn::net::ring_test
