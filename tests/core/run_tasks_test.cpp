// SPDX-License-Identifier: Apache-2.0
// world.run(task): tasks on all ranks, and how a run ends.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/task/future.hpp>
#include <cairn/task/prefetch.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <support/places.hpp>

namespace cairn::run_tasks_test {
namespace {

class RunTasks : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, RunTasks, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Served, RunTasks, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

task::task<std::uint64_t> slow_twice(std::uint64_t x) {
  co_await task::yield();
  co_return 2 * x;
}

task::task<std::uint64_t> sum_of_doubles(std::uint64_t n) {
  std::vector<task::task<std::uint64_t>> all;
  for (std::uint64_t i = 0; i < n; ++i) all.push_back(slow_twice(i));
  const auto values = co_await task::when_all(std::move(all));
  std::uint64_t sum = 0;
  for (const auto x : values) sum += x;
  co_return sum;
}

TEST_P(RunTasks, EachRankGetsTheValueOfItsRoot) {
  GetParam().run([](world& w) {
    for (int round = 0; round < 3; ++round) {
      const auto n = 50 + static_cast<std::uint64_t>(w.rank());
      EXPECT_EQ(w.run(sum_of_doubles(n)), n * (n - 1));
      EXPECT_EQ(w.tasks().num_live(), 0u);
      EXPECT_EQ(w.sum(std::uint64_t{1}), static_cast<std::uint64_t>(w.size()));
    }
  });
}

enum class blocking { barrier, wait, loop, run, progress };

task::task<void> blocks(world* w, blocking kind) {
  co_await task::yield();
  switch (kind) {
    case blocking::barrier:
      w->barrier();
      break;
    case blocking::wait:
      w->wait_until([] { return true; });
      break;
    case blocking::loop:
      w->parallel_for(10, [](worker_t, std::size_t, std::size_t) {});
      break;
    case blocking::run:
      w->run([](worker_t) {});
      break;
    case blocking::progress:
      w->progress(co_await task::current_worker());
  }
}

task::task<int> tries_to_block(world* w) {
  int refused = 0;
  for (const auto kind :
       {blocking::barrier, blocking::wait, blocking::loop, blocking::run, blocking::progress}) {
    try {
      co_await blocks(w, kind);
    } catch (const contract_violation&) {
      ++refused;
    }
  }
  co_return refused;
}

TEST_P(RunTasks, ATaskThatBlocksIsRefused) {
  GetParam().run([](world& w) { EXPECT_EQ(w.run(tries_to_block(&w)), 5); });
}

// Counts its objects.
struct counted {
  explicit counted(std::atomic<int>* n) : alive(n) { ++*alive; }
  ~counted() {
    --*alive;
    alive = nullptr;
  }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  std::atomic<int>* alive;
};

task::task<void> lives_on(std::atomic<int>* alive) {
  const counted c(alive);
  for (;;) co_await task::yield();
}

task::task<void> cancels(world* w, std::atomic<int>* alive, std::uint64_t n) {
  const counted c(alive);
  for (std::uint64_t i = 0; i < n / 2; ++i) {
    auto dropped = co_await task::spawn(lives_on(alive));
  }
  std::vector<task::task<void>> all;
  for (std::uint64_t i = 0; i < n / 2; ++i) all.push_back(lives_on(alive));
  const auto kept = co_await task::spawn(lives_on(alive));
  for (int i = 0; i < 3; ++i) co_await task::yield();
  if (w->rank() == w->size() - 1) w->cancel();
  co_await task::when_all(std::move(all));
}

TEST_P(RunTasks, CancelDestroysAllTasksAndTheWorldStaysUsable) {
  GetParam().run([](world& w) {
    std::atomic<int> alive = 0;
    for (int round = 0; round < 2; ++round) {
      EXPECT_THROW(w.run(cancels(&w, &alive, 200)), cancelled);
      EXPECT_EQ(alive, 0);
      EXPECT_EQ(w.tasks().num_live(), 0u);
      EXPECT_EQ(w.run(sum_of_doubles(10)), 90u);
    }
  });
}

TEST(RunTasksOnOneRank, CancelWithManyTasksAliveLeavesNone) {
  world w(2);
  std::atomic<int> alive = 0;
  EXPECT_THROW(w.run(cancels(&w, &alive, 200'000)), cancelled);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(w.tasks().num_live(), 0u);
}

// The counter of the task that awaits it must be destroyed later.
task::task<void> descends(world* w, std::atomic<int>* alive, const counted* above, int depth) {
  struct below_another {
    ~below_another() { EXPECT_NE(of->alive, nullptr) << "destroyed before what it awaits"; }
    const counted* of;
  };
  const below_another checked{above};
  const counted c(alive);
  if (depth > 0) {
    co_await descends(w, alive, &c, depth - 1);
  } else {
    w->cancel();
    co_await lives_on(alive);
  }
}

task::task<void> descends_in_all_ways(world* w, std::atomic<int>* alive, int depth) {
  const counted c(alive);
  auto dropped = co_await task::spawn(descends(w, alive, &c, depth));
  dropped.detach();
  const auto kept = co_await task::spawn(descends(w, alive, &c, depth));
  std::vector<task::task<void>> both;
  for (int i = 0; i < 2; ++i) both.push_back(descends(w, alive, &c, depth));
  co_await task::when_all(std::move(both));
}

// Recursive destruction would need more than a stack of 8 MiB.
TEST(RunTasksOnOneRank, ALongChainOfAwaitingTasksIsDestroyedDeepestFirst) {
  world w(2);
  std::atomic<int> alive = 0;
  EXPECT_THROW(w.run(descends_in_all_ways(&w, &alive, 300'000)), cancelled);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(w.tasks().num_live(), 0u);
}

task::task<void> cancels_soon(world* w) {
  for (int i = 0; i < 3; ++i) co_await task::yield();
  w->cancel();
  for (;;) co_await task::yield();
}

task::task<void> awaits_another(task::task<void>* t) { co_await *t; }

// The awaited task belongs to a frame that is destroyed before or after its waiter.
task::task<void> owns_what_another_awaits(world* w, std::atomic<int>* alive, bool waiter_first) {
  task::future<void> before;
  auto awaited = lives_on(alive);
  task::future<void> after;
  auto& waiter = waiter_first ? after : before;
  waiter = co_await task::spawn(awaits_another(&awaited));
  co_await cancels_soon(w);
}
task::task<void> owns_what_a_root_awaits(world* w, std::atomic<int>* alive) {
  auto awaited = lives_on(alive);
  auto waiter = co_await task::spawn(awaits_another(&awaited));
  waiter.detach();
  co_await cancels_soon(w);
}

TEST(RunTasksOnOneRank, ATaskMayBelongToAnotherFrameThanItsWaiter) {
  world w(1);
  std::atomic<int> alive = 0;
  for (const bool waiter_first : {false, true}) {
    EXPECT_THROW(w.run(owns_what_another_awaits(&w, &alive, waiter_first)), cancelled);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(w.tasks().num_live(), 0u);
  }
  EXPECT_THROW(w.run(owns_what_a_root_awaits(&w, &alive)), cancelled);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(w.tasks().num_live(), 0u);
}

task::task<void> detaches(world* w, task::task<void> made_outside) {
  auto of = co_await task::spawn(std::move(made_outside));
  of.detach();
  co_await cancels_soon(w);
}

TEST(RunTasksOnOneRank, ADetachedTaskThatTheBodyCreatedIsDestroyed) {
  world w(1);
  std::atomic<int> alive = 0;
  EXPECT_THROW(w.run(detaches(&w, lives_on(&alive))), cancelled);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(w.tasks().num_live(), 0u);
}

task::task<void> throws_if(bool it, std::atomic<int>* alive) {
  const counted c(alive);
  co_await task::yield();
  if (it) throw std::runtime_error("one of many");
  co_await task::yield();
}

task::task<void> many(std::atomic<int>* alive, std::size_t n) {
  std::vector<task::task<void>> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(throws_if(i == n / 2, alive));
  co_await task::when_all(std::move(all));
}

TEST_P(RunTasks, AnExceptionInTheMiddleOfManyTasksLeavesNone) {
  std::atomic<int> alive = 0;
  const auto run = [&] {
    GetParam().run([&](world& w) {
      w.run(many(&alive, w.rank() == 0 ? 10'000 / static_cast<std::size_t>(w.size()) : 2));
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(alive, 0);
}

task::task<void> only_spawns(std::atomic<int>* alive) {
  for (int i = 0; i < 100; ++i) {
    auto dropped = co_await task::spawn(lives_on(alive));
  }
}

TEST_P(RunTasks, TasksThatAreLeftAreDestroyedWithTheWorld) {
  std::atomic<int> alive = 0;
  GetParam().run([&](world& w) { w.run(only_spawns(&alive)); });
  EXPECT_EQ(alive, 0);
}

task::task<void> fails_later() {
  co_await task::yield();
  throw std::runtime_error("nobody waits for it");
}
task::task<void> drops_it(bool after_its_end) {
  auto dropped = co_await task::spawn(fails_later());
  while (after_its_end && !dropped.ended()) co_await task::yield();
}

TEST_P(RunTasks, AnExceptionThatNothingAwaitsFailsTheWorld) {
  for (const bool after_its_end : {false, true}) {
    const auto run = [&] {
      GetParam().run([&](world& w) {
        w.run(drops_it(after_its_end));
        w.wait_until([] { return false; });
      });
    };
    EXPECT_THROW(run(), peer_failure) << after_its_end;
  }
}

task::task<int> one() { co_return 1; }

TEST(RunTasksMisuse, ATaskThatWasMovedFromIsRefused) {
  world w(1);
  auto t = one();
  EXPECT_EQ(w.run(std::move(t)), 1);
  EXPECT_THROW(w.run(std::move(t)), contract_violation);
  EXPECT_EQ(w.run(one()), 1);
}

// Of hints no data is known to be in the cache, so each of them switches.
task::task<void> fetch_hints(int n) {
  for (int i = 0; i < n; ++i) co_await task::prefetch::hint(nullptr);
}
task::task<void> fetch_by_many() {
  std::vector<task::task<void>> all;
  for (int i = 0; i < 200; ++i) all.push_back(fetch_hints(1000));
  co_await task::when_all(std::move(all));
}

TEST(RunTasksOnOneRank, ATraceHasTheNumberOfTasksThatAWorkerLetsPrefetch) {
  for (const std::size_t given : {0, 32}) {
    const auto body = [&](world& w) {
      w.trace().resume();
      w.run(fetch_by_many());
      int choices = 0;
      for (const auto& r : w.trace().of_worker(main_worker)) {
        if (r.text_view() != "prefetching tasks") continue;
        ++choices;
        const auto& known = task::in_flight_tuner::candidates;
        EXPECT_NE(std::find(known.begin(), known.end(), r.amount), known.end()) << r.amount;
      }
      EXPECT_EQ(choices > 0, given == 0);
    };
    support::on_ranks(1, 1, body, {.prefetching = given, .trace = true});
  }
}

}  // namespace
}  // namespace cairn::run_tasks_test
