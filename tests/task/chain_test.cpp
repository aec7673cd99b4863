// SPDX-License-Identifier: Apache-2.0
//
// Suspended tasks resume each other without the worker's loop (worker_context.hpp).
#include <cstdint>
#include <deque>
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

namespace cairn::task {
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

TEST_P(Chain, NestedTasksThatWaitReturnToTheirParents) {
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

enum class wait { for_a_line, for_the_ready, for_messages };

template <wait Wait>
task<> until(const counting_host* host, std::uint64_t batches, std::uint64_t* turns) {
  while (host->batches < batches) {
    ++*turns;
    if constexpr (Wait == wait::for_a_line) co_await prefetch(turns);
    if constexpr (Wait == wait::for_the_ready) co_await yield();
    if constexpr (Wait == wait::for_messages) co_await pause();
  }
}

template <wait Wait>
std::vector<std::uint64_t> turns_until(std::uint64_t batches, std::size_t tasks, bool one_pauses) {
  const auto p = make_threads({.workers = 1});
  counting_host host;
  // A fixed number: what waits in `active` counts as waiting for its line, also while it is there.
  scheduler s(*p, {.in_flight = 8, .host = &host});
  s.context(main_worker).probes = false;
  std::vector<std::uint64_t> turns(tasks);
  const auto all = [&]() -> task<> {
    std::vector<task<>> each;
    for (auto& t : turns) each.push_back(until<Wait>(&host, batches, &t));
    std::uint64_t pauses = 0;
    if (one_pauses) each.push_back(until<wait::for_messages>(&host, batches, &pauses));
    co_await when_all(std::move(each));
  };
  s.run(all());
  return turns;
}

TEST(ChainOnOneWorker, MessagesAreHandledWhileTasksResumeEachOther) {
  for (const std::size_t tasks : {1, 2, 8, 9, 100}) {
    for (const auto t : turns_until<wait::for_a_line>(3, tasks, false)) EXPECT_LT(t, 20'000u);
    for (const auto t : turns_until<wait::for_the_ready>(3, tasks, false)) EXPECT_LT(t, 20'000u);
  }
}

TEST(ChainOnOneWorker, ATaskThatPausesEndsTheBatch) {
  // Without a pause the tasks have some thousand turns together until messages are handled.
  for (const auto t : turns_until<wait::for_the_ready>(50, 20, true)) EXPECT_LT(t, 200u);
}

TEST(ChainOnOneWorker, TasksThatWaitForLinesTakeTurns) {
  const auto turns = turns_until<wait::for_a_line>(3, 8, false);
  for (const auto t : turns) {
    EXPECT_LE(t, turns.front() + 2);
    EXPECT_GE(t + 2, turns.front());
  }
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
}  // namespace cairn::task
