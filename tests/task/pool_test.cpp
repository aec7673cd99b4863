// SPDX-License-Identifier: Apache-2.0
// What both kinds of pool promise.
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/hw/topology.hpp>
#include <cairn/hw/virtual_clock.hpp>
#include <cairn/task/fibers.hpp>
#include <cairn/task/parallel_for.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/pool.hpp>

#include <support/function_source.hpp>

namespace cairn::task::pool_test {
namespace {

enum class kind { threads, fibers };

class Pool : public testing::TestWithParam<std::tuple<kind, int>> {
 protected:
  static int workers() { return std::get<1>(GetParam()); }

  // Runs the body as worker 0 of a pool of the wanted kind.
  static void with_pool(const std::function<void(pool&)>& body) {
    if (std::get<0>(GetParam()) == kind::threads) {
      const auto p = make_threads({.workers = workers()});
      body(*p);
    } else {
      random64 random(17);
      hw::virtual_clock clock;
      fiber_scheduler scheduler(random, clock);
      const auto p = scheduler.make_pool(workers());
      scheduler.start(*p, [&] { body(*p); });
      scheduler.run();
    }
  }
};

TEST_P(Pool, ShareRunsTheJobAtMostOnceOnEveryWorkerAndNobodyIsInsideAfterwards) {
  with_pool([](pool& p) {
    per_worker<int> runs(workers());
    std::atomic<int> inside{0};
    for (int round = 1; round <= 2000; ++round) {
      const int before = runs[main_worker];
      std::vector<int> seen(static_cast<std::size_t>(workers()));
      for (worker_t k{0}; k < workers(); ++k) seen[static_cast<std::size_t>(k)] = runs[k];
      p.share([&](worker_t k) {
        ++inside;
        EXPECT_EQ(p.current_worker(), k);
        ++runs[k];
        p.switch_point();
        --inside;
      });
      ASSERT_EQ(inside, 0);
      ASSERT_EQ(runs[main_worker], before + 1);
      for (worker_t k{1}; k < workers(); ++k) {
        const int more = runs[k] - seen[static_cast<std::size_t>(k)];
        ASSERT_TRUE(more == 0 || more == 1) << "worker " << k << " ran it " << more << " times";
      }
      if (round % 7 == 0) p.run([&](worker_t k) { ++runs[k]; });  // one that nobody may leave out
    }
    const worker_t last{workers() - 1};
    const int before = runs[last];
    p.run([&](worker_t k) { ++runs[k]; });
    EXPECT_EQ(runs[last], before + 1);
  });
}

TEST_P(Pool, RunRunsTheJobOnceOnEveryWorker) {
  with_pool([](pool& p) {
    ASSERT_EQ(p.workers(), workers());
    for (int round = 0; round < 200; ++round) {
      per_worker<int> runs(workers());
      p.run([&](worker_t k) {
        EXPECT_EQ(p.current_worker(), k);
        p.switch_point();
        ++runs[k];
      });
      for (worker_t k{0}; k < workers(); ++k) ASSERT_EQ(runs[k], 1) << "worker " << k;
    }
    EXPECT_EQ(p.current_worker(), 0);
  });
}

TEST_P(Pool, WhatWorkersWroteIsSeenAfterRun) {
  with_pool([](pool& p) {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(64 * workers()));
    for (std::uint64_t round = 1; round <= 50; ++round) {
      p.run([&](worker_t k) {
        for (int i = 0; i < 64; ++i) words[static_cast<std::size_t>(64 * k + i)] += round;
      });
      for (const auto word : words) ASSERT_EQ(word, round * (round + 1) / 2);
    }
  });
}

TEST_P(Pool, ParallelForCoversEachIndexOnce) {
  with_pool([](pool& p) {
    for (const std::size_t n : {0, 1, 2, 7, 64, 1000}) {
      for (const std::size_t chunk : {0, 1, 3, 5000}) {
        std::vector<std::atomic<int>> covered(n);
        parallel_for(p, {.elements = n, .chunk = chunk},
                     [&](worker_t k, std::size_t begin, std::size_t end) {
                       EXPECT_EQ(p.current_worker(), k);
                       EXPECT_LT(begin, end);
                       EXPECT_LE(end - begin, chunk == 0 ? n : chunk);
                       for (auto i = begin; i < end; ++i) ++covered[i];
                     });
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_EQ(covered[i], 1) << i << " of " << n << " in chunks of " << chunk;
        }
      }
    }
  });
}

TEST_P(Pool, ParallelForCallsBetweenAfterEachChunk) {
  with_pool([](pool& p) {
    std::atomic<int> chunks = 0, between = 0;
    parallel_for(
        p, {.elements = 100, .chunk = 10}, [&](worker_t, std::size_t, std::size_t) { ++chunks; },
        [&](worker_t) { return ++between > 0; });
    EXPECT_EQ(chunks, 10);
    EXPECT_EQ(between, 10);
  });
}

TEST_P(Pool, ParallelForBeginsNoChunkOnceBetweenReturnsFalse) {
  with_pool([](pool& p) {
    std::atomic<int> chunks = 0;
    parallel_for(
        p, {.elements = 1000, .chunk = 1}, [&](worker_t, std::size_t, std::size_t) { ++chunks; },
        [&](worker_t) { return chunks < 10; });
    EXPECT_GE(chunks, 10);
    EXPECT_LT(chunks, 10 + 2 * workers());
  });
}

TEST_P(Pool, AnExceptionOfAnyWorkerLeavesRun) {
  with_pool([](pool& p) {
    for (worker_t thrower{0}; thrower < workers(); ++thrower) {
      std::atomic<int> ended = 0;
      try {
        p.run([&](worker_t k) {
          ++ended;
          if (k == thrower) throw std::runtime_error("worker " + std::to_string(k));
        });
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& e) {
        EXPECT_EQ(e.what(), "worker " + std::to_string(thrower));
      }
      EXPECT_EQ(ended, workers());
      std::atomic<int> again = 0;
      p.run([&](worker_t) { ++again; });
      EXPECT_EQ(again, workers()) << "the pool works on";
    }
  });
}

TEST_P(Pool, RunThrowsOneOfSeveralExceptionsAndForgetsTheOthers) {
  with_pool([](pool& p) {
    EXPECT_THROW(p.run([](worker_t) { throw std::runtime_error("each"); }), std::runtime_error);
    EXPECT_NO_THROW(p.run([](worker_t) {}));
  });
}

TEST_P(Pool, ParallelForStopsHandingOutAfterAnException) {
  with_pool([](pool& p) {
    std::atomic<std::size_t> calls = 0;
    const auto f = [&](worker_t, std::size_t, std::size_t) {
      ++calls;
      throw std::runtime_error("the first chunk of each worker");
    };
    EXPECT_THROW(parallel_for(p, {.elements = 1000, .chunk = 1}, f), std::runtime_error);
    EXPECT_GE(calls, 1u);
    EXPECT_LE(calls, static_cast<std::size_t>(workers()));
  });
}

TEST_P(Pool, WaitUntilWorksMeanwhile) {
  with_pool([](pool& p) {
    int looks = 0;
    const support::function_source source(p, [&](worker_t k) {
      EXPECT_EQ(k, 0);
      return ++looks % 3 == 0;
    });
    p.wait_until([&] { return looks >= 100; });
    EXPECT_EQ(looks, 100);
  });
}

TEST_P(Pool, AsksTheSourcesInTurnUntilOneHasDoneSomething) {
  with_pool([](pool& p) {
    std::string asked;
    bool first_works = true;
    const support::function_source first(p, [&](worker_t) {
      asked += 'a';
      return first_works;
    });
    {
      const support::function_source second(p, [&](worker_t) {
        asked += 'b';
        return false;
      });
      EXPECT_TRUE(p.poll_sources(main_worker));
      first_works = false;
      EXPECT_FALSE(p.poll_sources(main_worker));
    }
    EXPECT_FALSE(p.poll_sources(main_worker));
    EXPECT_EQ(asked, "aaba") << "a source that is gone was asked";
  });
}

TEST_P(Pool, PollingWorkersAskTheSourcesWhileTheBodyWaits) {
  with_pool([](pool& p) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(workers()));
    const support::function_source source(p, [&](worker_t k) {
      EXPECT_EQ(p.current_worker(), k);
      ++calls[static_cast<std::size_t>(k)];
      p.switch_point();
      return false;
    });
    for (int round = 0; round < 20; ++round) {
      for (auto& c : calls) c = 0;
      p.begin_polling();
      p.wait_until([&] {
        for (const auto& c : calls) {
          if (c < 3) return false;
        }
        return true;
      });
      std::atomic<int> ran = 0;
      p.run([&](worker_t) { ++ran; });
      EXPECT_EQ(ran, workers());
      p.end_polling();  // no other worker is inside the source after it
      if (workers() == 1) continue;
      const auto& last = calls[static_cast<std::size_t>(workers() - 1)];
      const int before = last;
      for (int i = 0; i < 10; ++i) p.run([](worker_t) {});
      EXPECT_EQ(last, before) << "a worker that does not poll asked the source";
    }
  });
}

// Sources come and go while other workers ask them.
TEST_P(Pool, SourcesComeAndGoWhileWorkersPoll) {
  with_pool([](pool& p) {
    p.begin_polling();
    for (int round = 0; round < 100; ++round) {
      std::atomic<int> seen = 0;
      const auto plain = std::make_unique<int>(round);
      const support::function_source source(p, [&](worker_t) {
        EXPECT_EQ(*plain, round);
        ++seen;
        return false;
      });
      p.wait_until([&] { return seen > 2 * workers(); });
    }
    p.end_polling();
  });
}

TEST_P(Pool, WorkersPollAgainAfterAnExceptionInAPause) {
  with_pool([](pool& p) {
    std::atomic<int> asked = 0;
    const support::function_source source(p, [&](worker_t k) {
      asked += k == workers() - 1 ? 1 : 0;
      return false;
    });
    p.begin_polling();
    EXPECT_THROW(p.while_not_polling([] { throw std::runtime_error("no memory"); }),
                 std::runtime_error);
    const int before = asked;
    p.wait_until([&] { return asked > before; });
    p.end_polling();
  });
}

TEST_P(Pool, APoolWithoutWorkEnds) {
  for (int i = 0; i < 20; ++i) {
    with_pool([](pool&) {});
    with_pool([](pool& p) { p.begin_polling(); });
    with_pool([](pool& p) { p.run([](worker_t) {}); });
  }
}

INSTANTIATE_TEST_SUITE_P(BothKinds, Pool,
                         testing::Combine(testing::Values(kind::threads, kind::fibers),
                                          testing::Values(1, 2, 3, 8)),
                         [](const auto& p) {
                           const bool threads = std::get<0>(p.param) == kind::threads;
                           return (threads ? "Threads" : "Fibers") +
                                  std::to_string(std::get<1>(p.param));
                         });

// The thread of worker k called itself worker k of its own pool too.
TEST(Threads, AWorkerOfOnePoolIsWorkerZeroOfThePoolThatItMakes) {
  const auto outer = make_threads({.workers = 3});
  outer->run([&](worker_t k) {
    {
      const auto inner = make_threads({.workers = 2});
      EXPECT_EQ(inner->current_worker(), 0);
      EXPECT_EQ(outer->current_worker(), k);
      inner->run([&](worker_t v) { EXPECT_EQ(inner->current_worker(), v); });
      std::vector<worker_t> callers;
      const support::function_source source(*inner, [&](worker_t v) {
        callers.push_back(v);
        return true;
      });
      inner->wait_until([&] { return callers.size() == 2; });
      EXPECT_EQ(callers, std::vector<worker_t>(2, main_worker));
    }
    EXPECT_EQ(outer->current_worker(), k);
  });
}

TEST_P(Pool, ASourceThatAlwaysHasWorkDoesNotStarveTheOthers) {
  with_pool([](pool& p) {
    int polled = 0;
    const support::function_source busy(p, [](worker_t) { return true; });
    const support::function_source other(p, [&](worker_t) { return ++polled < 0; });
    for (int i = 0; i < 10 * static_cast<int>(pool::longest_alone + 1); ++i) {
      EXPECT_TRUE(p.poll_sources(main_worker));
    }
    EXPECT_EQ(polled, 10);
  });
}

TEST(Threads, UnpinnedWorkersMayUseAllOfTheCallersCores) {
  const auto allowed = hw::core_set::of_this_thread().numbers();
  for (const auto pin : {pinning::automatic, pinning::off}) {
    const auto p = make_threads({.workers = 2, .pin = pin});
    per_worker<std::vector<int>> cores(2);
    for (int i = 0; i < 40; ++i) {
      p->run([&](worker_t k) { cores[k] = hw::core_set::of_this_thread().numbers(); });
    }
    for (worker_t k{0}; k < 2; ++k) EXPECT_EQ(cores[k], allowed) << "worker " << k;
  }
}

TEST(Threads, PinnedWorkersShareTheCallersCoresAndTheCallerGetsThemBack) {
  const auto before = hw::core_set::of_this_thread().numbers();
  {
    const auto p = make_threads({.workers = 2, .pin = pinning::on});
    per_worker<std::vector<int>> cores(2);
    p->run([&](worker_t k) { cores[k] = hw::core_set::of_this_thread().numbers(); });
    for (worker_t k{0}; k < 2; ++k) {
      const auto expected = before[static_cast<std::size_t>(k) % before.size()];
      EXPECT_EQ(cores[k], std::vector<int>{expected}) << "worker " << k;
    }
  }
  EXPECT_EQ(hw::core_set::of_this_thread().numbers(), before);
}

}  // namespace
}  // namespace cairn::task::pool_test
