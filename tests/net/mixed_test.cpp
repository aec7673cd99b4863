// SPDX-License-Identifier: Apache-2.0
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/net/mixed.hpp>
#include <cairn/net/ring.hpp>

#include "net/all_pairs.hpp"

namespace cairn::net::mixed_test {
namespace {

/// Ranks that are threads gather over a table. `spoil` may change what a rank brings to the
/// k-th gathering.
class gathering {
 public:
  explicit gathering(rank_t ranks) : arrived_(ranks), table_(static_cast<std::size_t>(ranks)) {}
  virtual ~gathering() = default;

  std::vector<std::byte> all_gather(rank_t self, int k, std::span<const std::byte> mine) {
    auto& slot = table_[static_cast<std::size_t>(self)];
    slot.assign(mine.begin(), mine.end());
    spoil(self, k, slot);
    arrived_.arrive_and_wait();
    std::vector<std::byte> all;
    for (const auto& part : table_) all.insert(all.end(), part.begin(), part.end());
    arrived_.arrive_and_wait();
    return all;
  }

 protected:
  virtual void spoil(rank_t, int, std::vector<std::byte>&) {}

 private:
  std::barrier<> arrived_;
  std::vector<std::vector<std::byte>> table_;
};

class thread_process final : public mpi_process {
 public:
  thread_process(gathering& all, std::shared_ptr<ring_fabric> fabric, rank_t self)
      : all_(all), fabric_(std::move(fabric)), self_(self) {}
  rank_t self() const noexcept override { return self_; }
  rank_t size() const noexcept override { return fabric_->ranks(); }
  void abort(int) override { std::abort(); }
  std::vector<std::byte> all_gather(std::span<const std::byte> mine) override {
    return all_.all_gather(self_, gathered_++, mine);
  }
  std::unique_ptr<transport> open(rank_t) override {
    return std::make_unique<ring_transport>(fabric_, self_);
  }

 private:
  gathering& all_;
  std::shared_ptr<ring_fabric> fabric_;
  rank_t self_;
  int gathered_ = 0;
};

/// Passes everything on, and counts the packets that it sends.
class counting_transport final : public transport {
 public:
  counting_transport(std::unique_ptr<transport> net, std::uint64_t& sent)
      : net_(std::move(net)), sent_(sent) {}
  rank_t self() const noexcept override { return net_->self(); }
  rank_t size() const noexcept override { return net_->size(); }
  std::size_t max_packet() const noexcept override { return net_->max_packet(); }
  std::size_t best_packet() const noexcept override { return net_->best_packet(); }
  bool send(rank_t to, std::span<const std::byte> p) override {
    const bool took = net_->send(to, p);
    if (took) ++sent_;
    return took;
  }
  std::size_t poll(const sink& deliver) override { return net_->poll(deliver); }

 private:
  std::unique_ptr<transport> net_;
  std::uint64_t& sent_;
};

struct seen {
  std::string wrong;
  std::uint64_t near = 0, far = 0;
  std::vector<int> machine_of;
  int place = -1;  // among the ranks that share its cores
  bool had_rings = false;
};

/// Every rank connects as launch does and exchanges packets with all.
std::vector<seen> run_ranks(gathering& all, rank_t ranks, int pretended) {
  const auto fabric = std::make_shared<ring_fabric>(ranks, 4096);
  std::vector<seen> result(static_cast<std::size_t>(ranks));
  on_threads(ranks, [&](rank_t r) {
    auto& mine = result[static_cast<std::size_t>(r)];
    thread_process process(all, fabric, r);
    const auto map = machine_map::gather(process, pretended);
    mine.machine_of = map.machine_of;
    mine.place = map.place;
    auto rings = make_machine_rings(process, map);
    mine.had_rings = rings != nullptr;
    auto far = std::make_unique<counting_transport>(process.open(0), mine.far);
    if (!rings) {
      mine.wrong = exchange_all_pairs(*far, 300);
      return;
    }
    auto near = std::make_unique<counting_transport>(std::move(rings), mine.near);
    mixed_transport net(std::move(near), map.neighbors(r), std::move(far));
    mine.wrong = exchange_all_pairs(net, 300);
  });
  return result;
}

TEST(MachineMap, NamesTheNeighborsOfEachRank) {
  const machine_map map{.machine_of = {0, 1, 0, 2, 1}};
  EXPECT_EQ(map.neighbors(0), (std::vector<rank_t>{0, 2}));
  EXPECT_EQ(map.neighbors(4), (std::vector<rank_t>{1, 4}));
  EXPECT_EQ(map.neighbors(3), (std::vector<rank_t>{3}));
}

TEST(Mixed, RanksOfThisProcessFindThatTheyShareAMachine) {
  gathering all(3);
  for (const auto& rank : run_ranks(all, 3, 0)) {
    EXPECT_EQ(rank.machine_of, (std::vector<int>{0, 0, 0}));
    EXPECT_TRUE(rank.had_rings);
    EXPECT_EQ(rank.wrong, "");
    EXPECT_EQ(rank.far, 0u);
  }
}

TEST(Mixed, SendsNearPeersPacketsByRingsAndOthersByTheNetwork) {
  gathering all(4);
  int place = 0;  // a pretended machine has no cores of its own
  for (const auto& rank : run_ranks(all, 4, 2)) {
    EXPECT_EQ(rank.machine_of, (std::vector<int>{0, 1, 0, 1}));
    EXPECT_EQ(rank.place, place++);
    EXPECT_EQ(rank.wrong, "");
    EXPECT_EQ(rank.near, 300u);
    EXPECT_EQ(rank.far, 600u);
  }
}

TEST(Mixed, ARankAloneOnItsMachineUsesTheNetworkOnly) {
  gathering all(3);
  const auto ranks = run_ranks(all, 3, 2);
  EXPECT_TRUE(ranks[0].had_rings);
  EXPECT_FALSE(ranks[1].had_rings);
  EXPECT_EQ(ranks[1].far, 600u);
  for (const auto& rank : ranks) EXPECT_EQ(rank.wrong, "");
}

/// Rank 0's address of its memory, the second thing gathered, leads nowhere.
class misleading final : public gathering {
 public:
  using gathering::gathering;

 protected:
  void spoil(rank_t self, int k, std::vector<std::byte>& brought) override {
    if (self != 0 || k != 1) return;
    segment::address address;
    std::memcpy(&address, brought.data(), sizeof address);
    address.token[0] ^= 1;
    std::memcpy(brought.data(), &address, sizeof address);
  }
};

TEST(Mixed, FallsBackToTheNetworkTogetherIfTheMemoryCannotBeShared) {
  misleading all(4);
  const auto ranks = run_ranks(all, 4, 2);
  EXPECT_FALSE(ranks[0].had_rings);
  EXPECT_FALSE(ranks[2].had_rings);
  EXPECT_TRUE(ranks[1].had_rings);
  EXPECT_TRUE(ranks[3].had_rings);
  for (const auto& rank : ranks) EXPECT_EQ(rank.wrong, "");
}

TEST(Mixed, TakesPacketsThatBothWaysTake) {
  const auto near = std::make_shared<ring_fabric>(1, 1024);
  const auto far = std::make_shared<ring_fabric>(2, 4096);
  const mixed_transport net(std::make_unique<ring_transport>(near, 0), {0},
                            std::make_unique<ring_transport>(far, 0));
  EXPECT_EQ(net.max_packet(), ring_transport(near, 0).max_packet());
  EXPECT_LE(net.best_packet(), net.max_packet());
}

/// A transport that only tells sizes.
class sizes final : public transport {
 public:
  sizes(rank_t ranks, std::size_t best) : ranks_(ranks), best_(best) {}
  rank_t self() const noexcept override { return 0; }
  rank_t size() const noexcept override { return ranks_; }
  std::size_t max_packet() const noexcept override { return 1000; }
  std::size_t best_packet() const noexcept override { return best_; }
  bool send(rank_t, std::span<const std::byte>) override { return false; }
  std::size_t poll(const sink&) override { return 0; }

 private:
  rank_t ranks_;
  std::size_t best_;
};

TEST(Mixed, KnowsTheBestPacketOfEachWay) {
  const mixed_transport net(std::make_unique<sizes>(2, 300), {0, 2},
                            std::make_unique<sizes>(3, 700));
  EXPECT_EQ(net.best_packet_to(2), 300u);
  EXPECT_EQ(net.best_packet_to(1), 700u);
  EXPECT_EQ(net.best_packet(), 700u);
}

}  // namespace
}  // namespace cairn::net::mixed_test
