// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/task/future.hpp>
#include <cairn/task/scheduler.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <support/task_pools.hpp>

namespace cairn::task::task_test {
namespace {

class Task : public ::testing::TestWithParam<support::pool_place> {};

INSTANTIATE_TEST_SUITE_P(Pools, Task, ::testing::ValuesIn(support::pool_places()),
                         support::pool_place_name);

task<std::uint64_t> twice(std::uint64_t x) { co_return 2 * x; }

task<std::uint64_t> sum_below(std::uint64_t n) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto x = co_await twice(i);
    sum += x;
  }
  co_return sum;
}

TEST_P(Task, ReturnsTheValuesOfTheTasksThatItAwaits) {
  GetParam().run([](pool& p) {
    scheduler s(p);
    EXPECT_EQ(s.run(sum_below(100'000)), std::uint64_t{100'000} * 99'999);
    EXPECT_EQ(s.num_live(), 0u);
  });
}

task<std::uint64_t> fibonacci(std::uint64_t n) {
  if (n < 2) co_return n;
  const auto [a, b] = co_await when_all(fibonacci(n - 1), fibonacci(n - 2));
  co_return a + b;
}

TEST_P(Task, TreesOfTasksAreBalancedAndLeaveNoFrame) {
  GetParam().run_seeds([](pool& p) {
    scheduler s(p);
    EXPECT_EQ(s.run(fibonacci(14)), 377u);
    EXPECT_EQ(s.num_live(), 0u);
  });
}

task<std::uint64_t> depth(std::uint64_t n) {
  if (n == 0) {
    co_await yield();
    co_return 0;
  }
  const auto below = co_await depth(n - 1);
  co_return below + 1;
}

TEST_P(Task, NestingIsNotBoundedByTheStack) {
  GetParam().run([](pool& p) {
    scheduler s(p);
    EXPECT_EQ(s.run(depth(50'000)), 50'000u);
    EXPECT_EQ(s.num_live(), 0u);
  });
}

task<int> throws_at(int n) {
  if (n % 2 == 0) co_await yield();
  if (n == 0) throw std::runtime_error("task 0");
  const int below = co_await throws_at(n - 1);
  co_return below;
}

task<std::string> catches(int n) {
  try {
    co_await throws_at(n);
  } catch (const std::runtime_error& e) {
    co_return e.what();
  }
  co_return "nothing thrown";
}

TEST_P(Task, AnExceptionIsReportedWhereTheTaskIsAwaited) {
  GetParam().run([](pool& p) {
    scheduler s(p);
    EXPECT_EQ(s.run(catches(9)), "task 0");
    EXPECT_THROW(s.run(throws_at(3)), std::runtime_error);
    EXPECT_EQ(s.num_live(), 0u);
  });
}

task<void> note_worker(std::vector<std::atomic<int>>* runs, std::atomic<int>* moved,
                       std::size_t i) {
  const auto first = co_await current_worker();
  for (int k = 0; k < 5; ++k) {
    co_await yield();
    const auto now = co_await current_worker();
    if (now != first) ++*moved;
  }
  ++(*runs)[i];
}

task<void> all_note(std::vector<std::atomic<int>>* runs, std::atomic<int>* moved) {
  std::vector<task<void>> all;
  for (std::size_t i = 0; i < runs->size(); ++i) all.push_back(note_worker(runs, moved, i));
  co_await when_all(std::move(all));
}

TEST_P(Task, EachRunsOnceAndAlwaysResumesOnTheWorkerThatStartedIt) {
  GetParam().run_seeds([](pool& p) {
    scheduler s(p);
    std::vector<std::atomic<int>> runs(300);
    std::atomic<int> moved = 0;
    s.run(all_note(&runs, &moved));
    for (const auto& r : runs) EXPECT_EQ(r, 1);
    EXPECT_EQ(moved, 0);
    EXPECT_EQ(s.num_live(), 0u);
  });
}

task<void> raises(bool* flag) {
  *flag = true;
  co_return;
}
task<void> spins(bool* flag) {
  auto f = co_await spawn(raises(flag));
  while (!*flag) co_await yield();
  co_await f;
}

TEST(TaskOnOneWorker, MayYieldUntilATaskThatHasNotStartedIsDone) {
  const auto p = make_threads({.workers = 1});
  scheduler s(*p);
  bool flag = false;
  s.run(spins(&flag));
}

task<void> blocks(pool* p) {
  p->wait_until([] { return true; });
  co_return;
}

TEST_P(Task, MustNotBlock) {
  GetParam().run([](pool& p) {
    scheduler s(p);
    EXPECT_THROW(s.run(blocks(&p)), contract_violation);
    p.wait_until([] { return true; });
  });
}

task<void> starts_jobs(pool* p, std::atomic<int>* ran) {
  EXPECT_THROW(p->run([ran](worker_t) { ++*ran; }), contract_violation);
  EXPECT_THROW(p->share([ran](worker_t) { ++*ran; }), contract_violation);
  if (p->workers() == 1) co_return;
  EXPECT_THROW(p->while_not_polling([ran] { ++*ran; }), contract_violation);
}

// The objects of the jobs would be gone while other workers run them.
TEST_P(Task, MustNotStartAJobOrStopPolling) {
  GetParam().run([](pool& p) {
    scheduler s(p);
    std::atomic<int> ran = 0;
    s.run(starts_jobs(&p, &ran));
    p.run([](worker_t) {});
    EXPECT_EQ(ran, 0);
  });
}

task<std::uint64_t> spawns(std::uint64_t n) {
  std::vector<future<std::uint64_t>> all;
  for (std::uint64_t i = 0; i < n; ++i) {
    auto f = co_await spawn(twice(i));
    all.push_back(std::move(f));
  }
  std::uint64_t sum = 0;
  for (auto& f : all) {
    const auto x = co_await f;
    sum += x;
  }
  co_return sum;
}

TEST_P(Task, FuturesGiveTheResultsOfSpawnedTasks) {
  GetParam().run_seeds([](pool& p) {
    scheduler s(p);
    EXPECT_EQ(s.run(spawns(1000)), 1000u * 999u);
    EXPECT_EQ(s.num_live(), 0u);
  });
}

task<void> counts(std::atomic<int>* n) {
  co_await yield();
  ++*n;
}
task<void> drops_futures(std::atomic<int>* n) {
  for (int i = 0; i < 100; ++i) {
    auto f = co_await spawn(counts(n));
    if (i % 2 == 0) co_await yield();
  }
}

TEST_P(Task, TasksOfDroppedFuturesRunOn) {
  GetParam().run_seeds([](pool& p) {
    scheduler s(p);
    std::atomic<int> n = 0;
    s.run(drops_futures(&n));
    p.begin_polling();
    p.wait_until([&] { return n == 100; });
    p.end_polling();
    p.run([&](worker_t k) { s.poll(k); });
    EXPECT_EQ(s.num_live(), 0u);
  });
}

// Misuse ---------------------------------------------------------------------------------------

task<int> fails() {
  throw std::runtime_error("it failed");
  co_return 1;
}
task<> awaits_twice() {
  auto f = co_await spawn(fails());
  for (int i = 0; i < 2; ++i) {
    bool failed = false, refused = false;
    try {
      co_await f;
    } catch (const std::runtime_error&) {
      failed = true;
    } catch (const contract_violation&) {
      refused = true;
    }
    EXPECT_EQ(failed, i == 0);
    EXPECT_EQ(refused, i == 1);
  }
}
task<> awaits_nothing() {
  future<int> none;
  bool refused = false;
  try {
    co_await none;
  } catch (const contract_violation&) {
    refused = true;
  }
  EXPECT_TRUE(refused);
}

TEST(TaskMisuse, OfEmptyTasksAndFuturesIsRefused) {
  const auto p = make_threads({.workers = 1});
  scheduler s(*p);
  auto t = twice(1);
  EXPECT_EQ(s.run(std::move(t)), 2u);
  EXPECT_THROW(s.run(std::move(t)), contract_violation);
  s.run(awaits_twice());
  s.run(awaits_nothing());
  EXPECT_THROW(static_cast<void>(future<int>().ended()), contract_violation);
}

// A thread beside the workers starts tasks while worker 0 does not poll.
task<> raise(std::atomic<int>& n) {
  ++n;
  co_return;
}

TEST(TasksOfOtherThreads, AreStartedByTheWorkersThatPoll) {
  constexpr int many = 100;
  const auto p = make_threads({.workers = 2});
  scheduler s(*p, {.threads = 3});
  p->begin_polling();
  std::atomic<int> n = 0;
  for (int i = 0; i < many; ++i) s.start_detached(worker_t{2}, [&] { return raise(n); });
  for (unsigned rounds = 0; n < many && rounds < 100'000; ++rounds) p->relax(rounds);
  EXPECT_EQ(n, many);
  p->end_polling();
}

// The worker that asks does so when the other one has just started its last task. Later it does
// not poll.
TEST(RequestsForTasks, EndWhenAWorkerHasNone) {
  const auto p = make_threads({.workers = 2});
  scheduler s(*p);
  std::atomic<int> n = 0;
  s.context(main_worker).asked_by = 2;
  s.poll(main_worker);
  s.start_detached(main_worker, [&] { return raise(n); });
  s.poll(main_worker);
  EXPECT_EQ(n, 1);
}

}  // namespace
}  // namespace cairn::task::task_test
