// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/core/simulation.hpp>

namespace cairn::am::predicted_time_test {
namespace {

constexpr cluster_costs costs{
    .network = {.latency_ns = 1000, .overhead_ns = 200, .gap_ns = 0, .byte_ns = 2},
    .message_ns = 5,
    .edge_ns = 3,
    .commit_ns = 11};

struct ping {
  std::uint64_t to, left;
};

// Nanoseconds until a message has gone to and fro so often between the first and the last rank.
std::uint64_t to_and_fro(std::uint64_t times, const cluster_costs& given, std::uint64_t seed,
                         rank_t ranks = 2, routing scheme = routing::direct) {
  std::uint64_t took = 0;
  const auto body = [&](world& w) {
    bool done = false;
    channel<ping>* back = nullptr;
    const auto last = static_cast<std::uint64_t>(w.size() - 1);
    const auto owner = [](const ping& b) { return static_cast<rank_t>(b.to); };
    channel<ping> pings(w, owner, [&](worker_t k, std::span<const ping> batch) {
      for (const auto& b : batch) {
        done = b.left <= 2;
        if (b.left > 1) back->send(k, owner({last - b.to, 0}), {last - b.to, b.left - 1});
      }
    });
    back = &pings;
    epoch e(w);
    const auto start = w.clock().now_ns();
    if (w.rank() == 0) pings.send(main_worker, w.size() - 1, {last, 2 * times});
    if (w.rank() == 0 || w.rank() == w.size() - 1) w.wait_until([&] { return done; });
    if (w.rank() == 0) took = w.clock().now_ns() - start;
    e.close();
  };
  run_simulated({.ranks = ranks, .seed = seed, .costs = given}, {.routing = scheme}, body);
  return took;
}

TEST(PredictedMessages, GoToAndFroInTwiceAllThatOneWayCosts) {
  constexpr std::uint64_t bytes = sizeof(packet_header) + sizeof(ping);
  constexpr std::uint64_t one_way = 5 + 200 + 1000 + 2 * (bytes - 1) + 200 + 5;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_EQ(to_and_fro(1, costs, seed), 2 * one_way) << "seed " << seed;
    EXPECT_EQ(to_and_fro(100, costs, seed), 200 * one_way) << "seed " << seed;
  }
}

// From corner to corner of a 2 x 2 grid: a rank between them takes each in and sends it on. Waves
// of the ranks that have nothing to do cost it time too.
TEST(PredictedMessages, TakeASecondMessagesTimeThroughAHop) {
  constexpr std::uint64_t bytes = sizeof(packet_header) + sizeof(ping);
  constexpr std::uint64_t one_way = 5 + 200 + 1000 + 2 * (bytes - 1) + 200 + 5;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto took = to_and_fro(100, costs, seed, 4, routing::grid);
    EXPECT_GE(took, 400 * one_way) << "seed " << seed;
    EXPECT_LE(took, 440 * one_way) << "seed " << seed;
  }
}

// Every rank sends so many messages to all others.
simulation_report all_to_all(rank_t ranks, std::uint64_t messages, std::size_t coalesce_bytes,
                             const cluster_costs& given) {
  return run_simulated(
      {.ranks = ranks, .seed = 1, .costs = given}, {.coalesce_bytes = coalesce_bytes},
      [&](world& w) {
        std::uint64_t handled = 0;
        channel<std::uint64_t> c(
            w, [&](worker_t, std::span<const std::uint64_t> batch) { handled += batch.size(); });
        epoch e(w);
        w.parallel_for(
            messages,
            [&](worker_t k, std::size_t begin, std::size_t end) {
              auto to = c.from(k);
              for (auto i = begin; i < end; ++i) {
                for (rank_t r = 0; r < w.size(); ++r) {
                  if (r != w.rank()) to(r, i);
                }
              }
            },
            64);
        e.close();
        EXPECT_EQ(handled, messages * static_cast<std::uint64_t>(w.size() - 1));
      });
}

TEST(PredictedMessages, CoalescedOnesTakeLess) {
  auto given = costs;
  given.network.byte_ns = 0;
  const auto alone = all_to_all(4, 1000, 16, given).simulated_ns;
  const auto some = all_to_all(4, 1000, 256, given).simulated_ns;
  const auto many = all_to_all(4, 1000, 4096, given).simulated_ns;
  EXPECT_GT(alone, 3 * some);
  EXPECT_GT(some, many);
  // Two messages a packet: an overhead for each that is sent, and for each that comes.
  EXPECT_GE(alone, 3u * 1000 / 2 * 2 * 200 + 2 * 3 * 1000 * 5);
}

TEST(PredictedMessages, NoLatencyShortensThem) {
  std::uint64_t before = 0;
  for (const auto* const latency : {"0", "1", "2", "4", "8", "1000"}) {
    auto given = costs;
    ASSERT_TRUE(given.set("latency_us", latency));
    const auto now = all_to_all(5, 300, 256, given).simulated_ns;
    EXPECT_GT(now, before) << latency;
    before = now;
  }
}

TEST(PredictedMessages, EqualRunsAreEqual) {
  const auto first = all_to_all(8, 200, 128, costs), second = all_to_all(8, 200, 128, costs);
  EXPECT_EQ(first.fingerprint, second.fingerprint);
  EXPECT_EQ(first.turns, second.turns);
  EXPECT_EQ(first.simulated_ns, second.simulated_ns);
  EXPECT_EQ(first.bytes, second.bytes);
}

}  // namespace
}  // namespace cairn::am::predicted_time_test
