// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/obs/counters.hpp>

namespace cairn::predicted_time_test {
namespace {

using obs::counter;

constexpr cluster_costs costs{
    .network = {.latency_ns = 1000, .overhead_ns = 200, .gap_ns = 40, .byte_ns = 2},
    .message_ns = 5,
    .edge_ns = 3,
    .owner_ns = 4,
    .commit_ns = 11};

simulation_options cluster_of(rank_t ranks, int workers = 1, const cluster_costs& c = costs) {
  return {.ranks = ranks, .workers = workers, .seed = 5, .max_packet = 1 << 16, .costs = c};
}

TEST(PredictedTime, ABarrierOfTwoIsAPacketEachWay) {
  const auto report = run_simulated(cluster_of(2), {}, [](world& w) {
    for (int i = 0; i < 10; ++i) w.barrier();
  });
  ASSERT_EQ(report.packets, 20u);
  const auto bytes = report.bytes / report.packets;
  EXPECT_EQ(report.simulated_ns, 10 * (200 + 1000 + 2 * (bytes - 1) + 200));
}

TEST(PredictedTime, ABarrierOfManyTakesLogarithmicallyManyRounds) {
  for (const rank_t ranks : {4, 16, 128}) {
    const auto report = run_simulated(cluster_of(ranks), {}, [](world& w) { w.barrier(); });
    const auto rounds = std::bit_width(static_cast<unsigned>(ranks)) - 1u;
    EXPECT_EQ(report.packets, ranks * rounds);
    EXPECT_GE(report.simulated_ns, rounds * 1400u);
    EXPECT_LE(report.simulated_ns, rounds * 1400u + 2 * report.bytes / ranks);
  }
}

TEST(PredictedTime, TurnsDoNotGrowWithTheLatency) {
  auto slow = costs;
  slow.network.latency_ns = 1e12;
  const auto report = run_simulated(cluster_of(2, 1, slow), {}, [](world& w) { w.barrier(); });
  EXPECT_GE(report.simulated_ns, 1'000'000'000'000u);
  EXPECT_LT(report.turns, 100'000u);
}

TEST(PredictedTime, BulkCostsGForEachByte) {
  const auto time_of = [](std::size_t bytes) {
    const auto report = run_simulated(cluster_of(2), {}, [&](world& w) {
      const std::vector<std::byte> mine(bytes);
      EXPECT_EQ(w.all_gather_bytes(mine).size(), 2u);
    });
    EXPECT_EQ(report.packets, 2u);
    return report.simulated_ns;
  };
  EXPECT_EQ(time_of(40'000) - time_of(10'000), 2u * 30'000);
}

TEST(PredictedTime, IsWhatTheCountersSay) {
  const auto report = run_simulated(cluster_of(1), {}, [](world& w) {
    w.counters().add(main_worker, counter::edges, 100);
    w.counters().add(main_worker, counter::lookups, 10'000);
    w.counters().add(main_worker, counter::activities, 10);
    w.counters().add(main_worker, counter::messages_sent, 1);
    w.counters().add(main_worker, counter::messages_handled, 2);
    w.counters().add(main_worker, counter::messages_filtered, 4);
    w.counters().add(main_worker, counter::operators, 1000);  // costs nothing by itself
    w.pool().switch_point();
    EXPECT_EQ(w.clock().now_ns(), 100u * 3 + 10'000 * 4 + 10 * 11 + 7 * 5);
  });
  EXPECT_EQ(report.simulated_ns, 100u * 3 + 10'000 * 4 + 10 * 11 + 7 * 5);
}

TEST(PredictedTime, WorkOfOneRankDelaysNoOther) {
  std::vector<std::uint64_t> before(3), after(3);
  const auto report = run_simulated(cluster_of(3), {}, [&](world& w) {
    const auto r = static_cast<std::size_t>(w.rank());
    w.counters().add(main_worker, counter::edges, r == 0 ? 1'000'000 : 1000 * r);
    w.parallel_for(1, [](worker_t, std::size_t, std::size_t) {});
    before[r] = w.clock().now_ns();
    w.barrier();
    after[r] = w.clock().now_ns();
  });
  // Rank 0 has taken a packet in after its work.
  EXPECT_EQ(before, (std::vector<std::uint64_t>{3'000'400, 3000, 6000}));
  for (const auto moment : after) {
    EXPECT_GT(moment, 3'000'000u);
    EXPECT_LT(moment, 3'010'000u);
  }
  EXPECT_GE(report.simulated_ns, 3'000'000u);
}

// Work, gathers and jobs; everybody's moments and counters.
std::string event_log(const simulation_options& cluster) {
  std::string trace;
  const auto report = run_simulated(cluster, {}, [&](world& w) {
    const auto r = static_cast<std::uint64_t>(w.rank());
    for (std::uint64_t i = 0; i < 5; ++i) {
      w.parallel_for(40, [&](worker_t k, std::size_t begin, std::size_t end) {
        w.counters().add(k, counter::edges, (end - begin) * (r + 1));
        trace += std::to_string(10 * k) + ":" + std::to_string(begin) + " ";
      });
      const std::vector<std::uint64_t> mine(r * 100, r + i);
      EXPECT_EQ(w.all_gather_values<std::uint64_t>(mine).size(),
                static_cast<std::size_t>(w.size() * (w.size() - 1) / 2) * 100);
    }
    trace += "at " + std::to_string(w.clock().now_ns()) + " counted";
    for (const auto count : w.counters().totals()) trace += " " + std::to_string(count);
    trace += "\n";
  });
  return trace + std::to_string(report.fingerprint) + " " + std::to_string(report.turns) + " " +
         std::to_string(report.simulated_ns) + " " + std::to_string(report.packets) + " " +
         std::to_string(report.bytes);
}

TEST(PredictedTime, TheSameSeedGivesTheSameRun) {
  for (const rank_t ranks : {2, 3, 8}) {
    for (const int workers : {1, 3}) {
      const auto cluster = cluster_of(ranks, workers);
      EXPECT_EQ(event_log(cluster), event_log(cluster))
          << ranks << " ranks, " << workers << " workers";
    }
  }
}

TEST(PredictedTime, NoCostShortensItByGrowing) {
  const auto time_of = [](const cluster_costs& c) {
    const auto report = run_simulated(cluster_of(5, 1, c), {}, [](world& w) {
      for (std::uint64_t i = 0; i < 10; ++i) {
        w.counters().add(main_worker, counter::edges, 100 * static_cast<std::uint64_t>(w.rank()));
        w.counters().add(main_worker, counter::lookups, 100 * static_cast<std::uint64_t>(w.rank()));
        w.counters().add(main_worker, counter::messages_handled, 10);
        w.counters().add(main_worker, counter::activities, 10);
        EXPECT_EQ(w.all_gather_bytes(std::vector<std::byte>(1000)).size(), 5u);
      }
    });
    return report.simulated_ns;
  };
  const auto least = time_of(costs);
  for (const auto* const name : {"latency_us", "overhead_us", "gap_us", "byte_ns", "message_ns",
                                 "edge_ns", "owner_ns", "commit_ns"}) {
    auto before = least;
    for (const auto* const value : {"100", "200", "1000"}) {
      auto grown = costs;
      ASSERT_TRUE(grown.set(name, value));
      const auto now = time_of(grown);
      EXPECT_GT(now, before) << name << " " << value;
      before = now;
    }
  }
}

TEST(PredictedTime, WorkersShareTheWorkOfARank) {
  const auto time_of = [](int workers) {
    return run_simulated(cluster_of(2, workers), {},
                         [](world& w) {
                           w.parallel_for(
                               4000,
                               [&](worker_t k, std::size_t begin, std::size_t end) {
                                 w.counters().add(k, counter::edges, 100 * (end - begin));
                               },
                               10);
                         })
        .simulated_ns;
  };
  EXPECT_EQ(time_of(1), 4000u * 100 * 3);
  EXPECT_EQ(time_of(4), 4000u * 100 * 3 / 4);
}

TEST(PredictedTime, RanksThatWaitForOneThatLeftStall) {
  EXPECT_THROW(run_simulated(cluster_of(4), {},
                             [&](world& w) {
                               w.barrier();
                               if (w.rank() != 2) w.barrier();
                             }),
               system_failure);
}

TEST(PredictedTime, AnExceptionReachesEveryRankAndTheCaller) {
  int heard = 0;
  EXPECT_THROW(run_simulated(cluster_of(5, 2), {},
                             [&](world& w) {
                               try {
                                 w.barrier();
                                 if (w.rank() == 3) throw std::out_of_range("three is too many");
                                 for (;;) w.barrier();
                               } catch (const peer_failure&) {
                                 ++heard;
                                 throw;
                               }
                             }),
               std::out_of_range);
  EXPECT_EQ(heard, 4);
}

}  // namespace
}  // namespace cairn::predicted_time_test
