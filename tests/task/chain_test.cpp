// SPDX-License-Identifier: Apache-2.0
//
// Suspended tasks resume each other without the worker's loop (worker_context.hpp).
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/task/prefetch.hpp>
#include <cairn/task/ring_queue.hpp>
#include <cairn/task/scheduler.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <support/task_pools.hpp>

namespace cairn::task::chain_test {
namespace {

TEST(RingQueue, IsADeque) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    random64 draw(seed);
    std::vector<int> values(100);
    ring_queue<int> queue;
    std::deque<int*> expected;
    for (int step = 0; step < 5'000; ++step) {
      auto* const x = &values[draw.below(values.size())];
      const auto operation = draw.below(5);
      if (operation < 2 && expected.size() < 70) {
        queue.push_back(x);
        expected.push_back(x);
      } else if (expected.empty()) {
        continue;
      } else if (operation == 2) {
        EXPECT_EQ(queue.pop_back(), expected.back());
        expected.pop_back();
      } else if (operation == 3) {
        EXPECT_EQ(queue.pop_front(), expected.front());
        expected.pop_front();
      } else {
        expected.push_back(x);
        EXPECT_EQ(queue.exchange_front(x), expected.front());
        expected.pop_front();
      }
      ASSERT_EQ(queue.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(queue[i], expected[i]);
    }
  }
}

class Chain : public ::testing::TestWithParam<support::pool_place> {};

INSTANTIATE_TEST_SUITE_P(Pools, Chain, ::testing::ValuesIn(support::pool_places()),
                         support::pool_place_name);

// Each level waits in another way before and after it awaits the next one.
task<std::uint64_t> descend(const std::uint64_t* table, std::uint64_t levels) {
  co_await prefetch(&table[levels]);
  if (levels == 0) co_return table[0];
  if (levels % 3 == 0) co_await yield();
  if (levels % 7 == 0) co_await pause();
  const auto below = co_await descend(table, levels - 1);
  if (levels % 2 == 0) co_await prefetch(&table[levels]);
  co_return below + table[levels];
}

task<std::uint64_t> sum_of_descents(const std::uint64_t* table, std::uint64_t levels,
                                    std::uint64_t tasks) {
  std::vector<task<std::uint64_t>> all;
  for (std::uint64_t t = 0; t < tasks; ++t) all.push_back(descend(table, (t * 7) % levels));
  std::uint64_t sum = 0;
  for (const auto x : co_await when_all(std::move(all))) sum += x;
  co_return sum;
}

TEST_P(Chain, NestedTasksThatWaitGiveTheirResults) {
  constexpr std::uint64_t levels = 50, tasks = 300;
  std::vector<std::uint64_t> table(levels);
  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i < levels; ++i) table[i] = i * i + 1;
  for (std::uint64_t t = 0; t < tasks; ++t) {
    for (std::uint64_t i = 0; i <= (t * 7) % levels; ++i) expected += table[i];
  }
  for (const std::size_t in_flight : {0, 1, 2, 32}) {
    GetParam().run_seeds(
        [&](pool& p) {
          scheduler s(p, {.in_flight = in_flight});
          EXPECT_EQ(s.run(sum_of_descents(table.data(), levels, tasks)), expected);
          EXPECT_EQ(s.num_live(), 0u);
        },
        5);
  }
}

// Counts how often messages would be handled.
class counting_host final : public scheduler_host {
 public:
  void between_batches(worker_t) noexcept override { ++batches; }
  std::uint64_t batches = 0;
};

enum class role { fetches, yields, pauses, fetches_and_pauses };

// Tasks on one worker that have turns until messages were handled a number of times. All of them
// begin together.
class turn_counts {
 public:
  turn_counts(std::vector<role> roles, std::uint64_t batches)
      : roles_(std::move(roles)), batches_(batches), turns(roles_.size()) {
    const auto p = make_threads({.workers = 1});
    scheduler s(*p, {.in_flight = 8, .host = &host_});
    s.context(main_worker).probes = false;  // each prefetch is a switch
    s.run(all());
  }

 private:
  static constexpr std::uint64_t too_many = 100'000;  // ends a test that fails

  task<> all() {
    std::vector<task<>> each;
    for (std::size_t i = 0; i < roles_.size(); ++i) each.push_back(take_turns(i));
    co_await when_all(std::move(each));
  }
  task<> take_turns(std::size_t i) {
    ++begun_;
    while (begun_ < roles_.size()) co_await yield();
    const auto end = host_.batches + batches_;
    while (host_.batches < end && turns[i] < too_many) {
      ++turns[i];
      const auto r = roles_[i];
      if (r == role::yields) co_await yield();
      if (r == role::fetches || r == role::fetches_and_pauses) co_await prefetch(&turns[i]);
      if (r == role::pauses || r == role::fetches_and_pauses) co_await pause();
    }
  }

  std::vector<role> roles_;
  std::uint64_t batches_;
  counting_host host_;
  std::size_t begun_ = 0;

 public:
  std::vector<std::uint64_t> turns;
};

TEST(ChainOnOneWorker, MessagesAreHandledWhileTasksResumeEachOther) {
  for (const auto each : {role::fetches, role::yields}) {
    for (const std::size_t tasks : {1, 2, 8, 9, 100}) {
      const turn_counts counts(std::vector<role>(tasks, each), 3);
      for (const auto t : counts.turns) {
        EXPECT_GT(t, 0u);
        EXPECT_LT(t, 20'000u);
      }
    }
  }
}

TEST(ChainOnOneWorker, ATaskThatPausesEndsTheBatch) {
  for (const auto& [others, one] : {std::pair(role::yields, role::pauses),
                                    std::pair(role::fetches, role::fetches_and_pauses)}) {
    std::vector<role> roles(7, others);
    roles.push_back(one);
    const turn_counts counts(roles, 50);
    for (const auto t : counts.turns) EXPECT_LT(t, 500u);  // without pauses: 6,400
    EXPECT_GT(counts.turns.front(), 0u);
  }
}

TEST(ChainOnOneWorker, TasksThatWaitForLinesTakeTurns) {
  const turn_counts counts(std::vector<role>(8, role::fetches), 3);
  for (const auto t : counts.turns) {
    EXPECT_LE(t, counts.turns.front() + 2);
    EXPECT_GE(t + 2, counts.turns.front());
  }
}

// A number of fetches from one place, and after each of them several from a shared cache.
struct fetches {
  likely_in from;
  int number;
  int from_shared_cache;
};

task<> fetch(fetches f) {
  const int line = 0;
  for (int i = 0; i < f.number; ++i) {
    co_await prefetch(&line, f.from);
    for (int j = 0; j < f.from_shared_cache; ++j) {
      co_await prefetch(&line, likely_in::shared_cache);
    }
  }
}

task<> fetch_twice() {
  constexpr fetches each{likely_in::memory, 10'000, 0};
  co_await when_all(fetch(each), fetch(each));
}

// How often two tasks are resumed that fetch 10,000 times each.
std::uint64_t num_resumed_in_cache(std::uint32_t slowness, scheduler_host& host) {
  const auto p = make_threads({.workers = 1});
  scheduler s(*p, {.host = &host});
  auto& c = s.context(main_worker);
  c.probes = false;
  c.cached = true;
  c.slowness = slowness;
  s.run(fetch_twice());
  return s.num_resumed();
}

TEST(ChainOnOneWorker, DataInTheCacheCausesFewSwitches) {
  counting_host host;
  EXPECT_LT(num_resumed_in_cache(100, host), 200u);
  EXPECT_GE(num_resumed_in_cache(100, host), 20'000u / 128);
  EXPECT_LT(num_resumed_in_cache(0, host), 30u);  // rarely timed if nearly nothing is slow
}

task<> fetch_by_hints(int number) {
  const int line = 0;
  for (int i = 0; i < number; ++i) co_await prefetch::hint(&line);
}

TEST(ChainOnOneWorker, HintsCauseFewSwitchesWhileDataIsInTheCache) {
  const auto p = make_threads({.workers = 1});
  scheduler s(*p);
  s.context(main_worker).cached = true;
  s.run(fetch_by_hints(10'000));
  EXPECT_LT(s.num_resumed(), 200u);
  EXPECT_GT(s.num_resumed(), 50u);
}

TEST(ChainOnOneWorker, MessagesAreHandledWhileDataIsInTheCache) {
  counting_host host;
  num_resumed_in_cache(0, host);
  EXPECT_GE(host.batches, 20'000u / 1'024 - 2);
}

// How often a task that makes them is resumed, besides its start.
std::uint64_t num_switches(const fetches& f) {
  const auto p = make_threads({.workers = 1});
  scheduler s(*p);
  s.context(main_worker).probes = false;
  s.run(fetch(f));
  return s.num_resumed() - 1;
}

TEST(ChainOnOneWorker, OnlyDataOutsideTheOwnCacheCausesSwitches) {
  EXPECT_EQ(num_switches({likely_in::own_cache, 1'000, 0}), 0u);
  EXPECT_EQ(num_switches({likely_in::shared_cache, 1'000, 0}), 1'000u);
  EXPECT_EQ(num_switches({likely_in::partly_cached, 1'000, 0}), 1'000u);
  EXPECT_EQ(num_switches({likely_in::memory, 1'000, 0}), 1'000u);
}

TEST(ChainOnOneWorker, DataInASharedCacheCausesSwitchesOnlyLongAfterOthers) {
  constexpr auto without = worker_context::max_shared_without_switch;
  for (const auto from : {likely_in::partly_cached, likely_in::memory}) {
    EXPECT_EQ(num_switches({from, 1'000, 1}), 1'000u);
    EXPECT_EQ(num_switches({from, 1'000, without}), 1'000u);
    EXPECT_EQ(num_switches({from, 1'000, without + 3}), 4'000u);
  }
  EXPECT_EQ(num_switches({likely_in::own_cache, 1'000, 1}), 1'000u);
}

TEST(ChainOnOneWorker, CountsEachResumption) {
  const auto p = make_threads({.workers = 1});
  for (const std::size_t in_flight : {4, 64}) {
    scheduler s(*p, {.in_flight = in_flight});
    s.context(main_worker).probes = false;
    const auto waits = [](const int* line) -> task<> {
      for (int i = 0; i < 1'000; ++i) co_await prefetch(line);
      for (int i = 0; i < 1'000; ++i) co_await yield();
    };
    const auto all = [&]() -> task<> {
      static const int line = 0;
      std::vector<task<>> each;
      for (int i = 0; i < 40; ++i) each.push_back(waits(&line));
      co_await when_all(std::move(each));
    };
    s.run(all());
    EXPECT_EQ(s.num_resumed(), 40u * 2'001 + 2);
  }
}

}  // namespace
}  // namespace cairn::task::chain_test
