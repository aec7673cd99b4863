// SPDX-License-Identifier: Apache-2.0
// Atomic operations on elements of global arrays, and elements that are full or empty.
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/pgas/array_table.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/task/future.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <support/global_arrays.hpp>
#include <support/num_schedules.hpp>
#include <support/places.hpp>

namespace cairn::pgas::global_array_changes_test {
namespace {

using cairn::task::task;
using cairn::task::when_all;
using support::all_distributions;
using support::nothing;

class GlobalArrayChanges : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, GlobalArrayChanges, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Served, GlobalArrayChanges, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

constexpr int rounds = support::few_when_sanitized(20);

template <class T>
task<> change_often(global_view<T> a, T me) {
  for (int round = 0; round < rounds; ++round) {
    co_await a.add(0, 1);
    static_cast<void>(co_await a.fetch_add(1, static_cast<T>(2)));
    static_cast<void>(co_await a.min(2, static_cast<T>(100 - me)));
    static_cast<void>(co_await a.max(3, static_cast<T>(me + 1)));
    // A counter by compare and exchange.
    for (T seen = co_await a.get(4);;) {
      const T found = co_await a.compare_exchange(4, seen, static_cast<T>(seen + 1));
      if (found == seen) break;
      seen = found;
    }
  }
}
template <class T>
task<> change_by_many(global_view<T> a, T me) {
  std::vector<task<>> all;
  all.push_back(change_often(a, me));
  all.push_back(change_often(a, me));
  co_await when_all(std::move(all));
}

template <class T>
void expect_atomics(world& w, global_memory& memory) {
  for (const auto d : {distribution::cyclic, distribution::remote}) {
    const auto a = memory.collective_alloc<T>(5, {.distribution = d});
    const auto total = static_cast<T>(2 * rounds * w.size());
    auto v = memory.view(a);
    for (auto& x : v.local()) x = 0;
    if (const auto place = v.layout().place(2); place.owner == w.rank()) {
      v.local()[place.offset] = 101;
    }
    w.barrier();
    w.run(change_by_many(v, static_cast<T>(w.rank())));
    w.barrier();
    const T expected[] = {total, static_cast<T>(2 * total), static_cast<T>(101 - w.size()),
                          static_cast<T>(w.size()), total};
    for (std::uint64_t k = 0; k < v.local().size(); ++k) {
      EXPECT_EQ(v.local()[k], expected[v.layout().element(w.rank(), k)]) << sizeof(T);
    }
    memory.collective_free(a);
  }
}

TEST_P(GlobalArrayChanges, AtomicsOfManyTasksLoseNothing) {
  GetParam().run([](world& w) {
    global_memory memory(w);
    expect_atomics<std::uint8_t>(w, memory);  // wraps around
    expect_atomics<std::int16_t>(w, memory);
    expect_atomics<std::uint32_t>(w, memory);
    expect_atomics<std::int64_t>(w, memory);
    expect_atomics<double>(w, memory);
  });
}

task<> signed_and_floating(global_memory& memory, global_array<std::int32_t> ints,
                           global_array<double> reals) {
  auto i = memory.view(ints);
  auto x = memory.view(reals);
  for (std::uint64_t k = 0; k < i.size(); ++k) {
    EXPECT_EQ(co_await i.min(k, -5), 0);
    EXPECT_EQ(co_await i.max(k, -7), -5);
    EXPECT_EQ(co_await i.exchange(k, 9), -5);
    EXPECT_EQ(co_await i.compare_exchange(k, 8, 1), 9);
    EXPECT_EQ(co_await i.compare_exchange(k, 9, 1), 9);
    EXPECT_EQ(co_await i.get(k), 1);
    EXPECT_EQ(co_await x.fetch_add(k, 0.5), 0.0);
    EXPECT_EQ(co_await x.min(k, -1.5), 0.5);
    EXPECT_EQ(co_await x.max(k, -2.0), -1.5);
    EXPECT_EQ(co_await x.exchange(k, 4.0), -1.5);
  }
}

TEST_P(GlobalArrayChanges, AtomicsReturnWhatTheyFound) {
  GetParam().run([](world& w) {
    global_memory memory(w);
    const auto ints = memory.collective_alloc<std::int32_t>(9);
    const auto reals = memory.collective_alloc<double>(9);
    w.run(w.rank() == 0 ? signed_and_floating(memory, ints, reals) : nothing());
  });
}

// Full and empty -------------------------------------------------------------------------------

task<> produce(global_view<std::uint32_t> a, std::uint32_t first, std::uint32_t count) {
  for (auto x = first; x < first + count; ++x) co_await a.fill(x % a.size(), x);
}
task<std::uint64_t> consume(global_view<std::uint32_t> a, std::uint64_t i, int count) {
  std::uint64_t sum = 0;
  for (int k = 0; k < count; ++k) sum += co_await a.take(i);
  co_return sum;
}
task<std::uint64_t> consume_all(global_view<std::uint32_t> a, std::vector<std::uint64_t> mine) {
  std::vector<task<std::uint64_t>> all;
  for (const auto i : mine) all.push_back(consume(a, i, 1));
  const auto sums = co_await when_all(std::move(all));
  std::uint64_t sum = 0;
  for (const auto s : sums) sum += s;
  co_return sum;
}
task<std::uint64_t> both(global_view<std::uint32_t> a, bool fills,
                         std::vector<std::uint64_t> mine) {
  auto taking = consume_all(a, std::move(mine));
  if (!fills) co_return co_await taking;
  std::vector<task<std::uint64_t>> all;
  all.push_back(std::move(taking));
  all.push_back([](global_view<std::uint32_t> of) -> task<std::uint64_t> {
    co_await produce(of, 0, static_cast<std::uint32_t>(of.size()));
    co_return 0;
  }(a));
  const auto sums = co_await when_all(std::move(all));
  co_return sums[0];
}

// Each value is taken once, also by tasks that wait for it before it is there.
TEST_P(GlobalArrayChanges, ATakeWaitsUntilTheElementIsFull) {
  GetParam().run([](world& w) {
    global_memory memory(w);
    for (const auto d : all_distributions) {
      const auto a =
          memory.collective_alloc<std::uint32_t>(40, {.distribution = d, .full_empty = true});
      std::vector<std::uint64_t> mine;
      for (auto i = static_cast<std::uint64_t>(w.rank()); i < 40;
           i += static_cast<std::uint64_t>(w.size())) {
        mine.push_back(i);
      }
      const auto sum = w.run(both(memory.view(a), w.rank() == w.size() - 1, std::move(mine)));
      EXPECT_EQ(w.sum(sum), 39u * 40 / 2);
      memory.collective_free(a);
    }
  });
}

// Fills each element once a task waits for it.
task<std::uint64_t> take_before_fill(global_view<std::uint32_t> a) {
  std::vector<std::uint64_t> all(a.size());
  std::iota(all.begin(), all.end(), 0);
  auto taking = co_await cairn::task::spawn(consume_all(a, std::move(all)));
  for (int i = 0; i < 100; ++i) co_await cairn::task::yield();
  co_await produce(a, 0, static_cast<std::uint32_t>(a.size()));
  co_return co_await taking;
}

// The fills that end the takes need no credit.

TEST(FullEmptyElements, MoreTasksWaitThanQuestionsMayBeUnanswered) {
  world w(1);
  global_memory memory(w);
  constexpr std::uint64_t n = 70'000;
  const auto a = memory.collective_alloc<std::uint32_t>(n, {.full_empty = true});
  EXPECT_EQ(w.run(take_before_fill(memory.view(a))), n * (n - 1) / 2);
}

// On one rank the body may go on after a run that has failed. No value goes to its tasks.
task<> takes_and_throws(global_view<std::uint32_t> a) {
  (co_await cairn::task::spawn(consume(a, 0, 1))).detach();
  for (int i = 0; i < 100; ++i) co_await cairn::task::yield();
  throw std::runtime_error("the run failed");
}

// The fill is on its way when the run fails.
task<> fill_one(global_view<std::uint32_t> a) { co_await a.fill(0, 77); }
task<> fills_and_throws(global_view<std::uint32_t> a) {
  (co_await cairn::task::spawn(fill_one(a))).detach();
  for (int i = 0; i < 100; ++i) co_await cairn::task::yield();
  throw std::runtime_error("the run failed");
}

// Its constructor waits, and a task must not.
task<> make_memory(world& w) {
  EXPECT_THROW(global_memory memory(w), contract_violation);
  co_return;
}

TEST(GlobalMemory, ATaskCannotMakeIt) {
  world w(2);
  const global_memory polls(w);
  w.run(make_memory(w));
}

TEST(FullEmptyElements, TasksOfARunThatFailedGetNoValue) {
  world w(1);
  global_memory memory(w);
  const auto a = memory.collective_alloc<std::uint32_t>(2, {.full_empty = true});
  for (int run = 0; run < 3; ++run) {
    EXPECT_THROW(w.run(takes_and_throws(memory.view(a))), std::runtime_error);
  }
  EXPECT_EQ(w.run(take_before_fill(memory.view(a))), 1u);
}

TEST(FullEmptyElements, TasksOfARunThatFailedFillNothingLater) {
  world w(1);
  global_memory memory(w);
  const auto a = memory.collective_alloc<std::uint32_t>(2, {.full_empty = true});
  EXPECT_THROW(w.run(fills_and_throws(memory.view(a))), std::runtime_error);
  EXPECT_EQ(w.run(take_before_fill(memory.view(a))), 1u);
}

TEST(FullEmptyElements, ATakeEndsTheWaitOfTasksThatWereDestroyed) {
  full_empty states(1);
  std::vector<full_empty::taker> destroyed;
  EXPECT_FALSE(states.take(0, {0, {}, 1}, destroyed));
  EXPECT_FALSE(states.take(0, {0, {}, 2}, destroyed));
  EXPECT_EQ(destroyed.size(), 1u);
  EXPECT_EQ(states.all_takers().size(), 1u);
}

}  // namespace
}  // namespace cairn::pgas::global_array_changes_test
