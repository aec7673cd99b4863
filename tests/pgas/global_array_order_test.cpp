// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <support/element_history.hpp>
#include <support/histories.hpp>
#include <support/num_schedules.hpp>
#include <support/places.hpp>

namespace cairn::pgas::global_array_order_test {
namespace {

using cairn::task::task;
using cairn::task::when_all;
using cairn::task::yield;
using support::element_event;
using support::element_history;
using support::recording;
using words = global_view<std::uint64_t>;

TEST(ElementHistory, FindsAnOrderIfThereIsOne) {
  const element_event put{access::put, 5, 0, 0, 1, 4}, early{access::get, 0, 0, 0, 2, 3},
      late{access::get, 0, 0, 5, 2, 3};
  EXPECT_TRUE(element_history(0, {put, early}).linearizable());
  EXPECT_TRUE(element_history(0, {put, late}).linearizable());
  EXPECT_TRUE(element_history(0, {put, early, late}).linearizable());
  const element_event after{access::get, 0, 0, 0, 5, 6};
  EXPECT_FALSE(element_history(0, {put, after}).linearizable());  // stale
  const element_event one{access::add, 1, 0, 0, 1, 9}, two{access::add, 1, 0, 0, 2, 8};
  EXPECT_FALSE(element_history(0, {one, two}).linearizable());  // an addition is lost
  const element_event wins{access::compare_exchange, 7, 0, 0, 1, 2},
      loses{access::compare_exchange, 8, 0, 7, 1, 3};
  EXPECT_TRUE(element_history(0, {loses, wins}).linearizable());
}

enum class fault { none, adds_in_two_steps, reads_from_a_cache };

// Some operations on one element, drawn by a seed.
task<> operate(recording<element_event>& to, words a, std::uint64_t i, std::uint64_t seed,
               int operations, fault f) {
  random64 random(seed);
  std::uint64_t cached = 0;
  bool has_cached = false;
  for (int k = 0; k < operations; ++k) {
    element_event e;
    e.operation = static_cast<access>(random.below(7));
    e.x = random.below(4);
    e.expected = random.below(4);
    e.began = to.now();
    switch (e.operation) {
      case access::put:
        co_await a.put(i, e.x);
        break;
      case access::exchange:
        e.found = co_await a.exchange(i, e.x);
        break;
      case access::compare_exchange:
        e.found = co_await a.compare_exchange(i, e.expected, e.x);
        break;
      case access::add:
        if (f == fault::adds_in_two_steps) {
          e.found = co_await a.get(i);
          co_await a.put(i, e.found + e.x);
        } else {
          e.found = co_await a.fetch_add(i, e.x);
        }
        break;
      case access::minimum:
        e.found = co_await a.min(i, e.x);
        break;
      case access::maximum:
        e.found = co_await a.max(i, e.x);
        break;
      default:
        if (f == fault::reads_from_a_cache && has_cached) {
          e.found = cached;
        } else {
          e.found = cached = co_await a.get(i);
          has_cached = true;
        }
    }
    to.end(e);
  }
}
task<> operate_by_many(recording<element_event>& to, words a, std::uint64_t i, std::uint64_t seed,
                       int tasks, fault f) {
  std::vector<task<>> all;
  for (int k = 0; k < tasks; ++k) {
    all.push_back(operate(to, a, i, mix64(seed + static_cast<std::uint64_t>(k)), 3, f));
  }
  co_await when_all(std::move(all));
}

// Returns how many histories, one per element of an array over all ranks, are impossible.
std::uint64_t num_impossible(const support::place& at, std::uint64_t seed, fault f) {
  constexpr std::uint64_t elements = 4;
  std::vector<recording<element_event>> all(elements);
  const int tasks = at.ranks <= 3 ? 2 : 1;
  at.with_seed(seed).run([&](world& w) {
    constexpr std::size_t all_bytes = std::size_t{1} << 30;
    constexpr cached_parts each_place[]{{0, 0, 0}, {0, all_bytes, all_bytes}, {all_bytes}};
    global_memory memory(w, {.cached = each_place[seed % 3]});
    const auto a =
        memory.collective_alloc<std::uint64_t>(elements, {.distribution = distribution::cyclic});
    for (std::uint64_t i = 0; i < elements; ++i) {
      const auto of_task = mix64(seed * 64 + i) + static_cast<std::uint64_t>(w.rank()) * 1000;
      w.run(operate_by_many(all[i], memory.view(a), i, of_task, tasks, f));
    }
  });
  return support::num_impossible(all, static_cast<std::size_t>(3 * tasks * at.ranks),
                                 [](const std::vector<element_event>& events) {
                                   return element_history(0, events).linearizable();
                                 });
}

class GlobalArrayOrder : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, GlobalArrayOrder, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(GlobalArrayOrder, OperationsOnAnElementAreLinearizable) {
  const std::uint64_t seeds = GetParam().simulated() ? support::num_seeds(5) : 1;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    ASSERT_EQ(num_impossible(GetParam(), seed, fault::none), 0u) << "seed " << seed;
  }
}

std::uint64_t num_caught(fault f) {
  return support::num_caught(100, [f](const support::place& at, std::uint64_t seed) {
    return num_impossible(at, seed, f);
  });
}
TEST(GlobalArrayTwin, ThatAddsInTwoStepsIsCaught) {
  EXPECT_GT(num_caught(fault::adds_in_two_steps), 4u);
}
TEST(GlobalArrayTwin, ThatReadsFromACacheIsCaught) {
  EXPECT_GT(num_caught(fault::reads_from_a_cache), 4u);
}

// A writer puts data, then says so in a flag of another rank. Who sees the flag sees the data.
task<> write_in_order(words data, words flag, std::uint64_t i) {
  for (std::uint64_t k = 1; k <= 8; ++k) {
    co_await data.put(i, k);
    co_await flag.put(i, k);
  }
}
task<std::uint64_t> count_too_old(words data, words flag, std::uint64_t i) {
  std::uint64_t wrong = 0;
  for (int polls = 0; polls < 60; ++polls) {
    const auto seen = co_await flag.get(i);
    const auto x = co_await data.get(i);
    wrong += x < seen;
    co_await yield();  // an access here need not let others run
  }
  co_return wrong;
}
task<std::uint64_t> write_and_read(words data, words flag, std::uint64_t me, std::uint64_t next) {
  std::vector<task<std::uint64_t>> all;
  all.push_back([](words d, words f, std::uint64_t i) -> task<std::uint64_t> {
    co_await write_in_order(d, f, i);
    co_return 0;
  }(data, flag, me));
  all.push_back(count_too_old(data, flag, next));
  all.push_back(count_too_old(data, flag, me));
  const auto counts = co_await when_all(std::move(all));
  co_return counts[1] + counts[2];
}

TEST_P(GlobalArrayOrder, AReaderOfALaterPutSeesTheEarlierOne) {
  GetParam().run([](world& w) {
    global_memory memory(w);
    const auto p = static_cast<std::uint64_t>(w.size());
    const auto me = static_cast<std::uint64_t>(w.rank());
    const auto data = memory.collective_alloc<std::uint64_t>(p);
    const auto flag =
        memory.collective_alloc<std::uint64_t>(p, {.distribution = distribution::hashed});
    EXPECT_EQ(w.run(write_and_read(memory.view(data), memory.view(flag), me, (me + 1) % p)), 0u);
  });
}

}  // namespace
}  // namespace cairn::pgas::global_array_order_test
