// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <core/launch_outcome.hpp>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>

namespace cairn::interrupted_launch_test {
namespace {

launch_outcome run_ranks(int ranks, const rank_body& body) {
  settings config;
  config.ranks = ranks;
  config.threads = 1;
  return run_job(config, body);
}

class InterruptedRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Launch, InterruptedRanks, testing::Values(1, 2, 3, 8));

// A rank is asked when its body has nothing left that could stop: as if the report were printed.
TEST_P(InterruptedRanks, ARequestToCancelAfterTheBodiesChangesNothing) {
  for (const bool all : {true, false}) {
    const auto result = run_ranks(GetParam(), [&](world& w) {
      w.barrier();
      if (all || w.rank() == w.size() - 1) w.cancel();
      return 7;
    });
    EXPECT_EQ(result.status, 7);
    EXPECT_TRUE(result.said.empty());
  }
}

TEST_P(InterruptedRanks, AreCancelledIfTheBodyOfOneIs) {
  const auto statuses = run_ranks(GetParam(), [](world& w) {
    if (w.rank() == w.size() - 1) {
      w.cancel();
      w.throw_if_interrupted();
    }
    return 0;
  });
  EXPECT_EQ(statuses.status, 130);
  EXPECT_EQ(statuses.said, std::vector<std::string>{"cancelled"});
}

TEST_P(InterruptedRanks, OneMayCatchCancelledAndEndWithTheOthers) {
  const auto result = run_ranks(GetParam(), [](world& w) {
    if (w.rank() != w.size() - 1) return 0;
    w.cancel();
    try {
      w.throw_if_interrupted();
    } catch (const cancelled&) {
    }
    return 0;
  });
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.said.empty());
}

TEST(InterruptedLaunch, OfTwoRunsAtATimeTheFirstIsInterruptible) {
  int of_second = -1;
  const auto first = run_ranks(1, [&](world& w) {
    std::thread([&] {
      of_second = run_ranks(1, [](world& second) {
                    raise(SIGINT);
                    second.barrier();
                    return 7;
                  }).status;
    }).join();
    w.barrier();
    return 0;
  });
  EXPECT_EQ(of_second, 7);
  EXPECT_EQ(first.status, 130);
}

TEST(InterruptedLaunch, ARunMayOutliveTheFirstAndTheNextIsInterruptible) {
  std::latch second_runs(1), first_ended(1);
  int of_second = -1;
  std::thread other;
  const auto first = run_ranks(1, [&](world&) {
    other = std::thread([&] {
      of_second = run_ranks(1, [&](world& w) {
                    second_runs.count_down();
                    first_ended.wait();
                    w.barrier();
                    return 7;
                  }).status;
    });
    second_runs.wait();
    return 0;
  });
  const auto interrupted = [](world& w) {
    raise(SIGINT);
    w.barrier();
    return 0;
  };
  EXPECT_EQ(run_ranks(1, interrupted).status, 130);
  first_ended.count_down();
  other.join();
  EXPECT_EQ(first.status, 0);
  EXPECT_EQ(of_second, 7);
  EXPECT_EQ(run_ranks(1, interrupted).status, 130);
}

TEST(InterruptedLaunch, ARankOfASimulatedClusterIsCancelledThoughOthersHaveEnded) {
  settings config;
  config.sim = "ranks=3,seed=1..20";
  int bodies = 0;
  const auto status_of = [&](bool in_body) {
    const auto body = [&](world& w) {
      ++bodies;
      if (w.rank() == 0) w.cancel();
      if (w.rank() == 0 && in_body) w.throw_if_interrupted();
      return 0;
    };
    return run(config, body, [](const std::string& s) { EXPECT_EQ(s, "cancelled"); });
  };
  EXPECT_EQ(status_of(false), 0);
  EXPECT_EQ(bodies, 60);
  EXPECT_EQ(status_of(true), 130);
}

}  // namespace
}  // namespace cairn::interrupted_launch_test
