// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/virtual_clock.hpp>
#include <cairn/task/fibers.hpp>
#include <cairn/task/parallel_for.hpp>

#include <support/function_source.hpp>

namespace cairn::task::fibers_test {
namespace {

struct cluster {
  cluster(std::uint64_t seed, int ranks, int workers, fiber_options options = {})
      : random(seed), scheduler(random, clock, std::move(options)) {
    for (int r = 0; r < ranks; ++r) pools.push_back(scheduler.make_pool(workers));
  }

  void run(const std::function<void(int rank, pool& p)>& body) {
    for (int r = 0; r < static_cast<int>(pools.size()); ++r) {
      auto& p = *pools[static_cast<std::size_t>(r)];
      scheduler.start(p, [&body, &p, r] { body(r, p); });
    }
    scheduler.run();
  }

  random64 random;
  hw::virtual_clock clock;
  fiber_scheduler scheduler;
  std::vector<std::unique_ptr<pool>> pools;
};

// Each rank passes steps, gives jobs and waits for its left neighbor; who did what when.
std::string event_log(std::uint64_t seed, std::uint64_t& fingerprint) {
  constexpr int ranks = 5;
  cluster c(seed, ranks, 2);
  std::string order;
  std::vector<int> done(ranks);
  c.run([&](int r, pool& p) {
    for (int i = 0; i < 10; ++i) {
      order += static_cast<char>('a' + r);
      p.switch_point();
      p.run([&](worker_t k) {
        p.switch_point();
        order += static_cast<char>((k == 0 ? 'A' : 'K') + r);
      });
      ++done[static_cast<std::size_t>(r)];
      p.wait_until([&] { return done[static_cast<std::size_t>((r + 1) % ranks)] >= i; });
    }
  });
  fingerprint = c.scheduler.fingerprint();
  return order + " " + std::to_string(c.scheduler.turns()) + " " + std::to_string(c.clock.now_ns());
}

TEST(Fibers, TheSameSeedGivesTheSameRun) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::uint64_t first = 0, second = 0;
    EXPECT_EQ(event_log(seed, first), event_log(seed, second)) << "seed " << seed;
    EXPECT_EQ(first, second) << "seed " << seed;
  }
}

TEST(Fibers, AnotherSeedGivesAnotherRun) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::uint64_t first = 0, second = 0;
    EXPECT_NE(event_log(seed, first), event_log(seed + 1, second)) << "seed " << seed;
    EXPECT_NE(first, second) << "seed " << seed;
  }
}

// Two increments that are not atomic: over the seeds, both results must occur.
TEST(Fibers, TheSeedsExploreInterleavings) {
  bool lost = false, kept = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    cluster c(seed, 2, 1);
    int shared = 0;
    c.run([&](int, pool& p) {
      const int read = shared;
      p.switch_point();
      shared = read + 1;
    });
    (shared == 1 ? lost : kept) = true;
  }
  EXPECT_TRUE(lost);
  EXPECT_TRUE(kept);
}

TEST(Fibers, NowAndThenOneRankRunsFarAhead) {
  int far = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    cluster c(seed, 2, 1);
    int steps[2] = {0, 0}, ahead = 0;
    c.run([&](int r, pool& p) {
      for (int i = 0; i < 200; ++i) {
        ++steps[r];
        ahead = std::max(ahead, steps[r] - steps[1 - r]);
        p.switch_point();
      }
    });
    far += ahead >= 40;
  }
  EXPECT_GE(far, 10);
}

TEST(Fibers, ABodyThatThrowsIsReportedAndTheOthersEnd) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cluster c(seed, 3, 2);
    int ended = 0;
    try {
      c.run([&](int r, pool& p) {
        p.switch_point();
        if (r == 1)
          p.run([](worker_t k) {
            if (k == 1) throw std::out_of_range("rank 1");
          });
        for (int i = 0; i < 10; ++i) p.switch_point();
        ++ended;
      });
      FAIL() << "nothing was thrown";
    } catch (const std::out_of_range& e) {
      EXPECT_STREQ(e.what(), "rank 1");
    }
    EXPECT_EQ(ended, 2);
  }
}

TEST(Fibers, AStallIsToldByNameAndUnwindsEveryBody) {
  struct counted {
    explicit counted(int& n) : alive(n) { ++alive; }
    ~counted() { --alive; }
    int& alive;
  };
  for (const int workers : {1, 2}) {
    cluster c(7, 3, workers);
    int alive = 0;
    try {
      c.run([&](int r, pool& p) {
        const counted here(alive);
        if (r == 1) return;
        p.begin_polling();
        p.wait_until([] { return false; });
      });
      FAIL() << "nothing was thrown";
    } catch (const system_failure& e) {
      const std::string expected = workers == 1 ? "rank 0 worker 0, rank 2 worker 0 wait"
                                                : "rank 0 worker 0, rank 0 worker 1, "
                                                  "rank 2 worker 0, rank 2 worker 1 wait";
      EXPECT_EQ(e.what(), "simulated cluster stalled: no message is in flight, and " + expected);
    }
    EXPECT_EQ(alive, 0);
  }
}

TEST(Fibers, AStallInsideAJobLeavesRunAfterEveryWorker) {
  cluster c(7, 1, 4);
  int inside = 0;
  try {
    c.run([&](int, pool& p) {
      const auto on_this_stack = std::make_unique<int>(42);
      p.run([&](worker_t k) {
        ++inside;
        try {
          if (k != 2) p.wait_until([] { return false; });
        } catch (const system_failure&) {
          EXPECT_EQ(*on_this_stack, 42);
        }
        --inside;
      });
      EXPECT_EQ(inside, 0);
      p.wait_until([] { return false; });
    });
    FAIL() << "nothing was thrown";
  } catch (const system_failure&) {
  }
  EXPECT_EQ(inside, 0);
}

TEST(Fibers, WhoIsToldOfAStallMayEndTheWaitingItself) {
  fiber_options options;
  bool notified = false;
  options.on_stall = [&](const std::string& text) {
    EXPECT_EQ(text.rfind("simulated cluster stalled", 0), 0u);
    notified = true;
  };
  cluster c(7, 2, 1, std::move(options));
  int left_well = 0;
  EXPECT_THROW(c.run([&](int, pool& p) {
    p.wait_until([&] { return notified; });
    ++left_well;
  }),
               system_failure);
  EXPECT_EQ(left_well, 2);
}

// Ranks that were asked to stop evaluate done() after each piece, as if they had nothing to do.
TEST(Fibers, WorkWhileAllAreUrgentIsNoStall) {
  cluster c(7, 2, 1);
  int left[] = {5000, 5000};
  EXPECT_NO_THROW(c.run([&](int r, pool& p) {
    const support::function_source source(p,
                                          [&](worker_t) { return left[r] > 0 && left[r]-- > 0; });
    p.work_until([&] { return left[0] == 0 && left[1] == 0; }, [] { return true; });
  }));
}

TEST(Fibers, ALongComputationIsNoStall) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cluster c(seed, 4, 2);
    bool ready = false;
    EXPECT_NO_THROW(c.run([&](int r, pool& p) {
      const support::function_source source(p, [&](worker_t) {
        p.switch_point();  // as core does when it polls
        return false;
      });
      if (r == 0) {
        p.wait_until([&, rounds = 0]() mutable { return ++rounds > 30; });
        for (int i = 0; i < 5'000; ++i) p.switch_point();
        ready = true;
      } else {
        p.begin_polling();
        p.wait_until([&] { return ready; });
        p.end_polling();
      }
    })) << "seed "
        << seed;
  }
}

TEST(Fibers, WhenAllWaitTheClockJumpsToWhatIsDue) {
  hw::virtual_clock* clock = nullptr;
  std::vector<std::uint64_t> arrivals{5'000, 7'000'000, 7'000'001, 9'000'000'000};
  fiber_options options;
  options.next_due_ns = [&]() -> std::optional<std::uint64_t> {
    for (const auto due : arrivals) {
      if (due > clock->now_ns()) return due;
    }
    return std::nullopt;
  };
  cluster c(3, 3, 1, std::move(options));
  clock = &c.clock;
  c.run([&](int, pool& p) {
    for (const auto due : arrivals) {
      p.wait_until([&] { return clock->now_ns() >= due; });
      EXPECT_LT(clock->now_ns(), due + 100'000);
    }
  });
}

TEST(Fibers, WaitingForAMomentEndsThoughNothingIsDue) {
  cluster c(3, 2, 1);
  c.run([&](int, pool& p) { p.wait_until([&] { return c.clock.now_ns() > 2'000'000'000; }); });
  EXPECT_LT(c.clock.now_ns(), 10'000'000'000u);
}

// A destructor may wait while an exception is in flight, and others throw meanwhile.
TEST(Fibers, ExceptionsInFlightBelongToTheirFiber) {
  struct waits_when_left {
    explicit waits_when_left(pool& workers) : p(workers) {}
    ~waits_when_left() {
      EXPECT_EQ(std::uncaught_exceptions(), 1);
      for (int i = 0; i < 5; ++i) p.switch_point();
      EXPECT_EQ(std::uncaught_exceptions(), 1);
    }
    pool& p;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cluster c(seed, 4, 1);
    int caught = 0;
    c.run([&](int r, pool& p) {
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(std::uncaught_exceptions(), 0);
        try {
          const waits_when_left here(p);
          throw std::runtime_error(std::to_string(r));
        } catch (const std::runtime_error& e) {
          EXPECT_EQ(e.what(), std::to_string(r));
          ++caught;
        }
        p.switch_point();
      }
    });
    EXPECT_EQ(caught, 20);
  }
}

TEST(Fibers, AThousandRanksOfFourWorkersRun) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int ranks = 100;  // a sanitizer spends a megabyte and much time on each fiber
#else
  constexpr int ranks = 1000;
#endif
  cluster c(1, ranks, 4);
  std::uint64_t sum = 0;
  c.run([&](int r, pool& p) {
    parallel_for(p, {.elements = 8, .chunk = 1}, [&](worker_t, std::size_t begin, std::size_t) {
      p.switch_point();
      sum += static_cast<std::uint64_t>(r) * 8 + begin;
    });
  });
  EXPECT_EQ(sum, std::uint64_t{8 * ranks} * (8 * ranks - 1) / 2);
}

TEST(Fibers, ASchedulerRunsSeveralTimes) {
  cluster c(1, 3, 2);
  EXPECT_THROW(c.run([](int, pool& p) { p.wait_until([] { return false; }); }), system_failure);
  EXPECT_THROW(c.run([](int, pool&) { throw std::runtime_error("x"); }), std::runtime_error);
  int ran = 0;
  c.run([&](int, pool& p) { p.run([&](worker_t) { ++ran; }); });
  EXPECT_EQ(ran, 6);
}

fiber_options with_stacks(std::size_t bytes) {
  fiber_options options;
  options.stack_bytes = bytes;
  return options;
}
// Stacks of which the address space has room for one, but not for many.
std::size_t huge_stack() {
  for (auto bytes = std::size_t{1} << 46;; bytes /= 2) {
    try {
      cluster c(1, 1, 1, with_stacks(bytes));
      c.run([](int, pool&) {});
      return bytes;
    } catch (const system_failure&) {
    }
  }
}

TEST(Fibers, WithoutStacksForTheWorkersNothingBegins) {
  constexpr int many = 64;
  cluster c(1, 1, many, with_stacks(huge_stack()));
  int ran = 0;
  c.run([&](int, pool& p) {
    EXPECT_THROW(p.run([&](worker_t) { ++ran; }), system_failure);
    EXPECT_THROW(p.begin_polling(), system_failure);
    const auto serve = [&](worker_t) {
      return ++ran < 0 ? poll_result::worked : poll_result::rest;
    };
    EXPECT_THROW(p.start_servers(many, serve), system_failure);
    p.stop_servers();
    for (int i = 0; i < 100; ++i) p.switch_point();
  });
  EXPECT_EQ(ran, 0);
}

// Between two polls of a rank the other one must not take the fibers of its workers.
TEST(Fibers, APoolThatHasPolledCanPollAgain) {
  const auto huge = huge_stack();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cluster c(seed, 2, 3, with_stacks(huge / (seed % 2 == 0 ? 2 : 4)));
    c.run([&](int, pool& p) {
      try {
        p.begin_polling();
      } catch (const system_failure&) {  // the other rank has the last stacks
        return;
      }
      for (int i = 0; i < 10; ++i) p.while_not_polling([&] { p.switch_point(); });
      p.end_polling();
    });
  }
}

TEST(Fibers, WhoRunsNoBodyMayNotWait) {
  cluster c(1, 1, 2);
  EXPECT_THROW(c.pools[0]->wait_until([] { return false; }), contract_violation);
  EXPECT_THROW(c.pools[0]->run([](worker_t) {}), contract_violation);
  const auto threads = make_threads({});
  EXPECT_THROW(c.scheduler.start(*threads, [] {}), contract_violation);
}

}  // namespace
}  // namespace cairn::task::fibers_test
