// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/communication_server.hpp>

#include <support/on_ranks.hpp>

namespace cairn::communication_server_test {
namespace {

using bytes = std::vector<std::byte>;

void append(bytes& to, const auto& value) {
  const auto at = to.size();
  to.resize(at + sizeof value);
  std::memcpy(to.data() + at, &value, sizeof value);
}

void append_block(bytes& bundle, std::uint32_t channel, std::size_t size) {
  append(bundle, bundle_entry{{.number = channel}, size});
  bundle.resize(bundle.size() + size);
}

struct damaged_bundle {
  const char* how;
  bytes payload;
};

// After a block without damage.
std::vector<damaged_bundle> damaged_bundles() {
  bytes good;
  append_block(good, 3, 8);
  const auto with = [&](packet_header header, std::uint64_t size) {
    auto all = good;
    append(all, bundle_entry{header, size});
    all.resize(all.size() + 8);
    return all;
  };
  auto truncated = with({}, 0);
  truncated.resize(good.size() + sizeof(bundle_entry) - 1);
  auto no_bool = with({}, 8);
  no_bool[good.size() + offsetof(packet_header, fragment)] = std::byte{2};
  return {{"truncated", truncated},
          {"a block longer than the bundle", with({}, 9)},
          {"a length that overflows", with({}, ~std::uint64_t{0})},
          {"a block that is no channel's", with({.kind = packet_kind::poison}, 8)},
          {"a bundle inside", with({.kind = packet_kind::bundle}, 8)},
          {"a fragment inside", with({.fragment = true}, 8)},
          {"a truth value of 2", no_bool}};
}

TEST(CommunicationServer, TakesBundlesApart) {
  bytes bundle;
  for (const std::size_t size : {8, 0, 24}) append_block(bundle, 7, size);
  std::vector<std::size_t> sizes;
  communication_server::take_apart(bundle, [&](const packet_header& header, auto block) {
    EXPECT_EQ(header.number, 7u);
    sizes.push_back(block.size());
  });
  EXPECT_EQ(sizes, (std::vector<std::size_t>{8, 0, 24}));
}

TEST(CommunicationServer, RefusesDamagedBundles) {
  for (const auto& [how, payload] : damaged_bundles()) {
    EXPECT_THROW(communication_server::take_apart(payload, [](auto&&, auto&&) {}),
                 contract_violation)
        << how;
  }
}

// Rank 1 receives one more packet.
class transport_with_a_packet final : public net::transport {
 public:
  transport_with_a_packet(std::unique_ptr<net::transport> below, bytes packet)
      : below_(std::move(below)), packet_(std::move(packet)) {}
  [[nodiscard]] rank_t self() const noexcept override { return below_->self(); }
  [[nodiscard]] rank_t size() const noexcept override { return below_->size(); }
  [[nodiscard]] std::size_t max_packet() const noexcept override { return below_->max_packet(); }
  [[nodiscard]] std::size_t best_packet() const noexcept override { return below_->best_packet(); }
  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> packet) override {
    return below_->send(to, packet);
  }
  std::size_t poll(const sink& deliver) override {
    if (self() == 1 && !std::exchange(delivered_, true)) deliver(0, packet_);
    return below_->poll(deliver);
  }

 private:
  std::unique_ptr<net::transport> below_;
  bytes packet_;
  bool delivered_ = false;
};

// The server of rank 1 calls its transport no more, but rank 0 must hear of it.
TEST(CommunicationServer, ADamagedBundleFailsAllRanks) {
  for (const auto& damaged : damaged_bundles()) {
    bytes packet;
    append(packet, packet_header{.kind = packet_kind::bundle});
    packet.insert(packet.end(), damaged.payload.begin(), damaged.payload.end());
    std::atomic<int> heard = 0;
    const auto body = [&](world& w) {
      try {
        for (;;) w.barrier();
      } catch (const peer_failure& e) {
        EXPECT_EQ(e.rank(), 1) << damaged.how;
        ++heard;
      }
    };
    support::on_ranks(2, 1, body, {.progress = progress_style::specialised}, [&](auto net) {
      return std::make_unique<transport_with_a_packet>(std::move(net), packet);
    });
    EXPECT_EQ(heard, 2) << damaged.how;
  }
}

TEST(CommunicationServer, AFullChannelMakesItsThreadWait) {
  constexpr worker_t thread{0};
  communication_server server(2, 2, {.packet_bytes = 4096, .channel_blocks = 2});
  for (int n = 0; n < 2; ++n) {
    EXPECT_FALSE(server.full(thread));
    buffer b(64);
    b.set_size(64);
    EXPECT_TRUE(server.hand_over(thread, 1, 8, std::move(b)).empty());
  }
  EXPECT_TRUE(server.full(thread));
  EXPECT_FALSE(server.full(worker_t{1}));
  EXPECT_EQ(server.waiting_bytes(), 2 * (64 + sizeof(packet_header)));
}

// Keeps what it accepts; refuses some packets.
class keeping_transport final : public net::transport {
 public:
  explicit keeping_transport(rank_t size) : sent(static_cast<std::size_t>(size)) {}
  [[nodiscard]] rank_t self() const noexcept override { return 0; }
  [[nodiscard]] rank_t size() const noexcept override { return static_cast<rank_t>(sent.size()); }
  [[nodiscard]] std::size_t max_packet() const noexcept override { return 512; }
  [[nodiscard]] std::size_t best_packet() const noexcept override { return 512; }
  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> packet) override {
    if (random_.below(8) == 0) return false;
    sent[static_cast<std::size_t>(to)].emplace_back(packet.begin(), packet.end());
    return true;
  }
  std::size_t poll(const sink&) override { return 0; }

  std::vector<std::vector<bytes>> sent;  // by receiver

 private:
  random64 random_{1};
};

struct stamp {
  std::uint32_t thread, number;
};

// Blocks of each thread, in order, of all that a rank was sent.
void expect_all_in_order(const std::vector<bytes>& packets, std::size_t threads,
                         std::uint32_t each) {
  std::vector<std::uint32_t> next(threads, 0);
  const auto see = [&](const packet_header&, std::span<const std::byte> block) {
    stamp s{};
    ASSERT_GE(block.size(), sizeof s);
    std::memcpy(&s, block.data(), sizeof s);
    EXPECT_EQ(s.number, next[s.thread]++);
  };
  for (const auto& packet : packets) {
    packet_header header;
    std::memcpy(&header, packet.data(), sizeof header);
    const auto payload = std::span(packet).subspan(sizeof header);
    if (header.kind == packet_kind::bundle) {
      communication_server::take_apart(payload, see);
    } else {
      see(header, payload);
    }
  }
  for (const auto n : next) EXPECT_EQ(n, each);
}

TEST(CommunicationServer, EachBlockOfSeveralThreadsLeavesOnceAndInOrder) {
  constexpr int threads = 3;
  constexpr rank_t ranks = 3;
  constexpr std::uint32_t each = 2000;  // to each rank
  constexpr worker_t sender{threads};
  keeping_transport net(ranks);
  fragments cutting(net.max_packet());
  obs::counters counters(threads + 1);
  obs::trace trace(threads + 1, 0, nullptr);
  outbox out(net, cutting, counters, trace, sender);
  communication_server server(threads + 1, ranks, {.packet_bytes = 400, .channel_blocks = 4});
  std::atomic<int> at_work = threads;
  std::atomic<std::size_t> returned = 0;
  std::vector<std::thread> all;
  for (worker_t k{0}; k < threads; ++k) {
    all.emplace_back([&, k] {
      random64 random(static_cast<std::uint64_t>(k));
      for (std::uint32_t n = 0; n < each; ++n) {
        for (rank_t to = 1; to < ranks; ++to) {
          while (server.full(k)) std::this_thread::yield();
          buffer b(64);
          b.header() = {};
          b.set_size(sizeof(stamp) + random.below(56));
          const stamp s{static_cast<std::uint32_t>(k), n};
          std::memset(b.payload(), 0, b.size());
          std::memcpy(b.payload(), &s, sizeof s);
          returned += server.hand_over(k, to, 1, std::move(b)).size();
        }
      }
      --at_work;
    });
  }
  while (at_work > 0 || server.waiting_bytes() > 0 || out.waiting_bytes() > 0) {
    out.drain(sender);
    if (!server.send(sender, out, counters, 0)) std::this_thread::yield();
  }
  for (auto& t : all) t.join();
  EXPECT_GT(returned, 0u);
  EXPECT_LE(returned, std::size_t{threads} * each * (ranks - 1));
  for (rank_t to = 1; to < ranks; ++to) {
    expect_all_in_order(net.sent[static_cast<std::size_t>(to)], threads, each);
  }
}

}  // namespace
}  // namespace cairn::communication_server_test
