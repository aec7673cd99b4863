// SPDX-License-Identifier: Apache-2.0
// Events, latches, semaphores and and-gates.
#include <atomic>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/task/and_gate.hpp>
#include <cairn/task/event.hpp>
#include <cairn/task/future.hpp>
#include <cairn/task/latch.hpp>
#include <cairn/task/prefetch.hpp>
#include <cairn/task/scheduler.hpp>
#include <cairn/task/semaphore.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <support/task_pools.hpp>

namespace cairn::task::waiting_test {
namespace {

class Waiting : public ::testing::TestWithParam<support::pool_place> {};

INSTANTIATE_TEST_SUITE_P(Pools, Waiting, ::testing::ValuesIn(support::pool_places()),
                         support::pool_place_name);

constexpr int many = 100;

task<void> waits_for(event* e, std::atomic<int>* after) {
  co_await *e;
  ++*after;
}
task<void> sets(event* e, std::atomic<int>* after, int* before) {
  for (int i = 0; i < 3; ++i) co_await yield();
  *before = *after;
  e->set();
}
task<void> one_event(std::atomic<int>* after, int* before) {
  event e;
  std::vector<task<void>> all;
  for (int i = 0; i < many; ++i) all.push_back(waits_for(&e, after));
  all.push_back(sets(&e, after, before));
  co_await when_all_spread(std::move(all));
  co_await e;  // does not suspend
}

TEST_P(Waiting, AnEventResumesAllThatWaitAndOnlyWhenItIsSet) {
  GetParam().run_seeds([](pool& p) {
    scheduler s(p);
    std::atomic<int> after = 0;
    int before = -1;
    s.run(one_event(&after, &before));
    EXPECT_EQ(before, 0);
    EXPECT_EQ(after, many);
  });
}

task<void> counts_down(latch* l, std::atomic<int>* counted) {
  co_await yield();
  ++*counted;
  l->count_down();
}
task<int> one_latch(std::atomic<int>* counted) {
  latch l(many);
  std::vector<future<void>> all;
  for (int i = 0; i < many; ++i) {
    auto f = co_await spawn(counts_down(&l, counted));
    all.push_back(std::move(f));
  }
  co_await l;
  const int then = *counted;
  for (auto& f : all) co_await f;
  co_return then;
}

TEST_P(Waiting, ALatchOpensAtTheLastCount) {
  GetParam().run_seeds([](pool& p) {
    scheduler s(p);
    std::atomic<int> counted = 0;
    EXPECT_EQ(s.run(one_latch(&counted)), many);
    latch none(0);
    EXPECT_THROW(none.count_down(), contract_violation);
  });
}

struct inside_count {
  std::atomic<int> now = 0, max = 0;
};
task<void> takes_a_permit(semaphore* s, inside_count* inside) {
  for (int i = 0; i < 3; ++i) {
    co_await *s;
    const int n = ++inside->now;
    int max = inside->max;
    while (max < n && !inside->max.compare_exchange_weak(max, n)) {
    }
    co_await yield();
    --inside->now;
    s->release();
  }
}
task<void> few_permits(inside_count* inside) {
  semaphore s(3);
  std::vector<task<void>> all;
  for (int i = 0; i < many; ++i) all.push_back(takes_a_permit(&s, inside));
  co_await when_all_spread(std::move(all));
}

TEST_P(Waiting, ASemaphoreAdmitsAsManyAsItHasPermits) {
  GetParam().run_seeds([](pool& p) {
    scheduler s(p);
    inside_count inside;
    s.run(few_permits(&inside));
    EXPECT_EQ(inside.now, 0);
    EXPECT_LE(inside.max, 3);
    EXPECT_GE(inside.max, 2);
  });
}

task<void> sets_input(and_gate* g, std::size_t i, std::atomic<int>* sets) {
  co_await yield();
  ++*sets;
  g->set(i);
  g->set(i);
}
task<void> two_rounds(std::atomic<int>* sets, std::vector<int>* seen) {
  and_gate g(7);
  for (int round = 0; round < 2; ++round) {
    std::vector<task<void>> all;
    for (std::size_t i = 0; i < 7; ++i) all.push_back(sets_input(&g, i, sets));
    auto setting = co_await spawn([](std::vector<task<void>> them) -> task<void> {
      co_await when_all(std::move(them));
    }(std::move(all)));
    co_await g;
    seen->push_back(*sets);
    co_await setting;
    g.reset();
  }
}

TEST_P(Waiting, AnAndGateOpensWhenEachInputWasSet) {
  GetParam().run_seeds([](pool& p) {
    scheduler s(p);
    std::atomic<int> sets = 0;
    std::vector<int> seen;
    s.run(two_rounds(&sets, &seen));
    EXPECT_EQ(seen, (std::vector<int>{7, 14}));
  });
}

task<void> passes_without_inputs() {
  and_gate g(0);
  co_await g;
  g.reset();
  co_await g;
}

TEST_P(Waiting, AnAndGateWithoutInputsIsAlwaysOpen) {
  GetParam().run_seeds([](pool& p) {
    scheduler s(p);
    s.run(passes_without_inputs());
  });
}

task<std::uint64_t> chase(const std::vector<std::uint32_t>* next, std::uint32_t at, int steps) {
  std::uint64_t sum = 0;
  for (int i = 0; i < steps; ++i) {
    co_await prefetch(&(*next)[at]);
    at = (*next)[at];
    sum += at;
  }
  co_return sum;
}
task<std::uint64_t> chases(const std::vector<std::uint32_t>* next) {
  std::vector<task<std::uint64_t>> all;
  for (std::uint32_t i = 0; i < many; ++i) all.push_back(chase(next, i, 1000));
  const auto sums = co_await when_all(std::move(all));
  std::uint64_t sum = 0;
  for (const auto x : sums) sum += x;
  co_return sum;
}

TEST_P(Waiting, PrefetchesEndAlsoWithMoreTasksThanMayWaitAtOnce) {
  std::vector<std::uint32_t> next(4096);
  for (std::uint32_t i = 0; i < 4096; ++i) next[i] = (i * 1021u + 7u) % 4096u;
  std::uint64_t expected = 0;
  for (std::uint32_t i = 0; i < many; ++i) {
    for (std::uint32_t at = i, k = 0; k < 1000; ++k) expected += at = next[at];
  }
  for (const std::size_t in_flight : {1u, 32u, 1000u}) {
    GetParam().run([&](pool& p) {
      scheduler s(p, {.in_flight = in_flight});
      EXPECT_EQ(s.run(chases(&next)), expected);
    });
  }
}

}  // namespace
}  // namespace cairn::task::waiting_test
