// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/hw/virtual_clock.hpp>
#include <cairn/task/fibers.hpp>
#include <cairn/task/parallel_for.hpp>

#include <support/function_source.hpp>

namespace cairn::task::timed_fibers_test {
namespace {

// Workers charge what they have put down as work; letters are due at a moment each.
struct cluster {
  cluster(std::uint64_t seed, int ranks, int workers)
      : random(seed), scheduler(random, clock, options()) {
    for (int r = 0; r < ranks; ++r) pools.push_back(scheduler.make_pool(workers));
  }

  fiber_options options() {
    fiber_options o;
    o.times = {.charge =
                   [this](std::size_t rank, worker_t k) {
                     clock.advance(std::exchange(work[{rank, k}], 0));
                   },
               .next_due_ns =
                   [this](std::size_t rank, std::uint64_t after) {
                     std::optional<std::uint64_t> next;
                     for (const auto at : letters[rank]) {
                       if (at > after && (!next || at < *next)) next = at;
                     }
                     return next;
                   }};
    return o;
  }
  void send(std::size_t rank, std::uint64_t at) {
    letters[rank].push_back(at);
    scheduler.expect(rank, at);
  }
  [[nodiscard]] bool has_come(std::size_t rank) {
    return std::any_of(letters[rank].begin(), letters[rank].end(),
                       [&](auto at) { return at <= clock.now_ns(); });
  }
  void run(const std::function<void(std::size_t rank, pool& p)>& body) {
    for (std::size_t r = 0; r < pools.size(); ++r) {
      scheduler.start(*pools[r], [&body, &p = *pools[r], r] { body(r, p); });
    }
    scheduler.run();
  }

  random64 random;
  hw::virtual_clock clock;
  std::map<std::pair<std::size_t, worker_t>, std::uint64_t> work;
  std::map<std::size_t, std::vector<std::uint64_t>> letters;
  fiber_scheduler scheduler;
  std::vector<std::unique_ptr<pool>> pools;
};

TEST(TimedFibers, TheOneWithTheLeastTimeGoesOn) {
  cluster c(1, 3, 1);
  std::vector<std::uint64_t> moments;
  c.run([&](std::size_t r, pool& p) {
    for (int i = 0; i < 20; ++i) {
      moments.push_back(c.clock.now_ns());
      c.work[{r, main_worker}] = 10 * (r + 1) + static_cast<std::uint64_t>(i);
      p.switch_point();
    }
    EXPECT_EQ(c.clock.now_ns(), 20 * 10 * (r + 1) + 190);
  });
  EXPECT_EQ(moments.size(), 60u);
  EXPECT_TRUE(std::is_sorted(moments.begin(), moments.end()));
}

TEST(TimedFibers, WhoWaitsWakesAtTheMomentOfTheArrival) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const std::uint64_t due : {701u, 5000u, 123456u, 987654321u}) {
      cluster c(seed, 2, 1);
      std::uint64_t woke = 0;
      c.run([&](std::size_t r, pool& p) {
        if (r == 0) {
          c.work[{0, main_worker}] = 700;
          p.switch_point();
          c.send(1, due);
        } else {
          p.wait_until([&] { return c.has_come(1); });
          woke = c.clock.now_ns();
        }
      });
      EXPECT_EQ(woke, due) << "seed " << seed;
    }
  }
}

TEST(TimedFibers, WorkersOfARankWorkAtOnceAndWaitForTheLast) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cluster c(seed, 2, 4);
    c.run([&](std::size_t r, pool& p) {
      if (r == 1) {  // its workers sleep between two jobs
        p.begin_polling();
        c.work[{1, main_worker}] = 300;
        p.switch_point();
      }
      const auto begin = c.clock.now_ns();
      p.run([&](worker_t k) { c.work[{r, k}] = 1000 * (static_cast<std::uint64_t>(k) + 1); });
      EXPECT_EQ(c.clock.now_ns() - begin, 4000u) << "seed " << seed;
      p.end_polling();
    });
  }
}

TEST(TimedFibers, ParallelForSharesTheWorkOut) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cluster c(seed, 1, 4);
    c.run([&](std::size_t, pool& p) {
      parallel_for(p, {.elements = 400, .chunk = 1}, [&](worker_t k, std::size_t, std::size_t) {
        c.work[{0, k}] = 100;
      });
      EXPECT_EQ(c.clock.now_ns(), 400 * 100 / 4u) << "seed " << seed;
    });
  }
}

TEST(TimedFibers, WhoWaitsForAMomentLooksUpSoonAfterIt) {
  cluster c(3, 2, 1);
  c.run([&](std::size_t r, pool& p) {
    if (r == 1) return;
    p.wait_until([&] { return c.clock.now_ns() >= 3'000'000; });
    EXPECT_LT(c.clock.now_ns(), 3'200'000u);
  });
}

TEST(TimedFibers, AStallIsToldAndUnwinds) {
  for (const int workers : {1, 2}) {
    cluster c(7, 3, workers);
    try {
      c.run([&](std::size_t r, pool& p) {
        c.work[{r, main_worker}] = 1000 * r;
        p.switch_point();
        if (r == 1) return;
        p.begin_polling();
        p.wait_until([] { return false; });
      });
      FAIL() << "nothing was thrown";
    } catch (const system_failure& e) {
      EXPECT_EQ(std::string(e.what()).rfind("simulated cluster stalled", 0), 0u) << e.what();
    }
  }
}

TEST(TimedFibers, APoolEndsWhileItsWorkersAreAhead) {
  cluster c(1, 1, 2);
  c.run([&](std::size_t, pool&) {
    const auto mine = c.scheduler.make_pool(2);  // rank 1, of nobody's body
    bool began = false;
    const support::function_source source(*mine, [&](worker_t k) {
      c.work[{1, k}] += began ? 0 : 50'000;
      return !std::exchange(began, true);
    });
    mine->begin_polling();
    mine->switch_point();
    EXPECT_TRUE(began || c.clock.now_ns() == 0);
  });
}

}  // namespace
}  // namespace cairn::task::timed_fibers_test
