// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/core/progress.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/obs/counters.hpp>

#include <support/on_ranks.hpp>

namespace cairn::simulation_test {
namespace {

// Everything that a program can do below am: collectives of many sizes, jobs, poll, clock.
std::string event_log(const simulation_options& cluster) {
  std::string trace;
  const auto report = run_simulated(cluster, {}, [&](world& w) {
    const auto r = static_cast<std::uint64_t>(w.rank());
    const auto n = static_cast<std::uint64_t>(w.size());
    for (std::uint64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(w.sum(r + i), n * (n - 1) / 2 + n * i);
      trace += std::to_string(r) + " ";
      std::vector<std::uint64_t> mine(r * 700, r + i);
      const auto all = w.all_gather_values<std::uint64_t>(mine);
      EXPECT_EQ(all.size(), 700 * n * (n - 1) / 2);
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
      w.parallel_for(10, [&](worker_t k, std::size_t begin, std::size_t) {
        trace += std::to_string(10 * k) + ":" + std::to_string(begin) + " ";
      });
    }
    trace += "at " + std::to_string(w.clock().now_ns()) + " counted";
    for (const auto count : w.counters().totals()) trace += " " + std::to_string(count);
    trace += "\n";
  });
  EXPECT_GT(report.packets, 0u);
  EXPECT_GT(report.simulated_ns, 0u);
  return trace + std::to_string(report.fingerprint) + " " + std::to_string(report.turns) + " " +
         std::to_string(report.simulated_ns) + " " + std::to_string(report.packets) + " " +
         std::to_string(report.bytes);
}

TEST(Simulation, TheSameSeedGivesTheSameRunCountersIncluded) {
  for (const rank_t ranks : {2, 3, 8}) {
    for (const int workers : {1, 3}) {
      const simulation_options cluster{.ranks = ranks, .workers = workers, .seed = 5};
      const auto first = event_log(cluster);
      EXPECT_EQ(first, event_log(cluster)) << ranks << " ranks, " << workers << " workers";
      auto other = cluster;
      other.seed = 6;
      EXPECT_NE(first, event_log(other)) << ranks << " ranks, " << workers << " workers";
    }
  }
}

TEST(Simulation, SmallPacketsForceFragmentsAndMissingRoomForcesOverflow) {
  std::uint64_t fragments = 0, overflow = 0;
  run_simulated({.ranks = 4, .seed = 3, .max_packet = 256}, {}, [&](world& w) {
    std::vector<std::uint64_t> mine(5000);
    std::iota(mine.begin(), mine.end(), static_cast<std::uint64_t>(w.rank()) * 5000);
    const auto all = w.all_gather_values<std::uint64_t>(mine);
    ASSERT_EQ(all.size(), 20000u);
    for (std::uint64_t i = 0; i < 20000; ++i) ASSERT_EQ(all[i], i);
    fragments += w.counters().total(obs::counter::fragments);
    overflow += w.counters().total(obs::counter::overflow_buffers);
  });
  EXPECT_GT(fragments, 0u);
  EXPECT_GT(overflow, 0u);
}

TEST(Simulation, ManySeedsAgreeOnTheResult) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    support::on_simulated_ranks(7, 2, seed, [&](world& w) {
      for (int i = 0; i < 3; ++i) EXPECT_EQ(w.sum(std::uint64_t{1}), 7u) << "seed " << seed;
      EXPECT_TRUE(w.any(w.rank() == 3)) << "seed " << seed;
      EXPECT_FALSE(w.any(false)) << "seed " << seed;
    });
  }
}

TEST(Simulation, AThousandRanksMeet) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr rank_t ranks = 150;  // a sanitizer spends a megabyte and much time on each
#else
  constexpr rank_t ranks = 1000;
#endif
  std::uint64_t met = 0;
  run_simulated({.ranks = ranks, .seed = 2}, {}, [&](world& w) {
    met += w.sum(static_cast<std::uint64_t>(w.rank())) == std::uint64_t{ranks} * (ranks - 1) / 2;
  });
  EXPECT_EQ(met, std::uint64_t{ranks});
}

TEST(Simulation, AnExceptionReachesEveryRankAndTheCaller) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    int heard = 0;
    try {
      support::on_simulated_ranks(5, 2, seed, [&](world& w) {
        try {
          w.barrier();
          if (w.rank() == 3) throw std::out_of_range("three is too many");
          for (;;) w.barrier();
        } catch (const peer_failure& e) {
          EXPECT_EQ(e.rank(), 3);
          EXPECT_NE(std::string(e.what()).find("three is too many"), std::string::npos);
          ++heard;
          throw;
        }
      });
      FAIL() << "nothing was thrown";
    } catch (const std::out_of_range& e) {
      EXPECT_STREQ(e.what(), "three is too many");
    }
    EXPECT_EQ(heard, 4) << "seed " << seed;
  }
}

TEST(Simulation, RanksThatWaitForOneThatLeftStall) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    int left = 0;
    try {
      support::on_simulated_ranks(4, 1, seed, [&](world& w) {
        w.barrier();
        if (w.rank() == 2) return;
        try {
          w.barrier();
        } catch (const peer_failure&) {
          ++left;
          throw;
        }
      });
      FAIL() << "nothing was thrown";
    } catch (const system_failure& e) {
      const std::string text = e.what();
      EXPECT_EQ(text.rfind("simulated cluster stalled", 0), 0u) << text;
      EXPECT_NE(text.find("rank 0 worker 0"), std::string::npos) << text;
      EXPECT_EQ(text.find("rank 2"), std::string::npos) << text;
    }
    EXPECT_EQ(left, 3) << "seed " << seed;
  }
}

TEST(Simulation, AWaitThatOnlyThePoolSeesStallsToo) {
  EXPECT_THROW(support::on_simulated_ranks(
                   3, 2, 1, [&](world& w) { w.pool().wait_until([] { return false; }); }),
               system_failure);
}

TEST(Simulation, LatencyIsWhatABarrierCosts) {
  const auto time_of = [](double latency_us) {
    return run_simulated({.ranks = 8, .seed = 1, .latency_us = latency_us}, {},
                         [](world& w) {
                           for (int i = 0; i < 10; ++i) w.barrier();
                         })
        .simulated_ns;
  };
  EXPECT_GT(time_of(1000), 10 * 3 * 500'000u);  // three rounds each
  EXPECT_LT(time_of(1), time_of(1000) / 10);
}

TEST(Simulation, OneRankNeedsNoNetwork) {
  const auto report = support::on_simulated_ranks(1, 4, 1, [](world& w) {
    EXPECT_EQ(w.sum(std::uint64_t{3}), 3u);
    w.parallel_for(100, [](worker_t, std::size_t, std::size_t) {});
  });
  EXPECT_EQ(report.packets, 0u);
}

TEST(ParseSimulation, ReadsWhatIsNamedAndKeepsTheOtherDefaults) {
  const auto one = parse_simulation("ranks=128,latency_us=2.5,seed=7");
  EXPECT_EQ(one.cluster.ranks, 128);
  EXPECT_EQ(one.cluster.latency_us, 2.5);
  EXPECT_EQ(one.cluster.seed, 7u);
  EXPECT_EQ(one.first_seed, 7u);
  EXPECT_EQ(one.last_seed, 7u);
  EXPECT_EQ(one.cluster.max_packet, simulation_options{}.max_packet);
  const auto many = parse_simulation("seed=1..100");
  EXPECT_EQ(many.cluster.ranks, simulation_options{}.ranks);
  EXPECT_EQ(many.first_seed, 1u);
  EXPECT_EQ(many.last_seed, 100u);
  EXPECT_TRUE(many.is_series);
  EXPECT_FALSE(one.is_series);
  EXPECT_TRUE(parse_simulation("seed=7..7").is_series);
  EXPECT_EQ(parse_simulation("max_packet=512").cluster.max_packet, 512u);
  EXPECT_EQ(parse_simulation("ranks=8,machines=2").cluster.machines, 2);
  EXPECT_EQ(parse_simulation("seed=18446744073709551615").last_seed, ~std::uint64_t{0});
}

TEST(ParseSimulation, RefusesWithASentence) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "--sim has the item '', expected ranks=N"},
      {"ranks", "--sim has the item 'ranks', expected ranks=N"},
      {"ranks=4,", "--sim has the item ''"},
      {"rank=4", "the item 'rank=4'"},
      {"ranks=4 ,seed=1", "ranks is '4 ', expected a number from 1"},
      {"ranks=0", "ranks is '0', expected a number from 1"},
      {"ranks=-1", "ranks is '-1', expected"},
      {"ranks=99999999999", "ranks is '99999999999', expected"},
      {"ranks=4x", "ranks is '4x'"},
      {"ranks=4,ranks=5", "names ranks twice"},
      {"latency_us=-1", "latency_us is '-1', expected"},
      {"latency_us=nan", "latency_us is 'nan', expected"},
      {"latency_us=inf", "latency_us is 'inf', expected"},
      {"seed=", "seed is '', expected a number or a range"},
      {"seed=5..", "seed is '5..', expected"},
      {"seed=..5", "seed is '..5', expected"},
      {"seed=5..4", "seed is '5..4', expected"},
      {"seed=18446744073709551616", "seed is '18446744073709551616', expected"},
      {"max_packet=1", "max_packet is '1', expected"},
      {"machines=0", "machines is '0', expected"},
      {"machines=5,ranks=4", "machines is '5', expected at most the number of ranks, 4"},
  };
  for (const auto& [text, expected] : cases) {
    try {
      static_cast<void>(parse_simulation(text));
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const usage_error& e) {
      EXPECT_NE(std::string(e.what()).find(expected), std::string::npos)
          << "'" << text << "': " << e.what();
    }
  }
}

// The same bodies on threads, so that the two ways to run ranks agree on what fails.
TEST(OnRanks, RethrowsWhatTheFirstRankThrew) {
  EXPECT_THROW(support::on_ranks(3, 1,
                                 [](world& w) {
                                   if (w.rank() == 1) throw std::out_of_range("one");
                                   for (;;) w.barrier();
                                 }),
               std::out_of_range);
}

TEST(OnRanks, ChaosChangesNoResult) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    support::on_chaotic_ranks(3, 2, seed, [&](world& w) {
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(w.sum(static_cast<std::uint64_t>(w.rank() + i)), 3u + 3 * i);
      }
      std::vector<std::uint64_t> mine(20000, static_cast<std::uint64_t>(w.rank()));
      const auto all = w.all_gather_values<std::uint64_t>(mine);
      EXPECT_EQ(all.size(), 60000u);
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    });
  }
}

}  // namespace
}  // namespace cairn::simulation_test
