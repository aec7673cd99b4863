// SPDX-License-Identifier: Apache-2.0
// Runs of tasks that end early, while operations on hash maps and global arrays are in flight.
#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/bounded_text.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/pgas/hash_map.hpp>
#include <cairn/task/future.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <support/num_schedules.hpp>
#include <support/places.hpp>

namespace cairn::pgas {
namespace {

using cairn::task::task;
using text = bounded_text<20>;
using text_map = hash_map<text, std::uint64_t>;
using words = global_view<std::uint64_t>;

// Counts its objects.
struct counted {
  explicit counted(std::atomic<int>* n) : alive(n) { ++*alive; }
  ~counted() { --*alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  std::atomic<int>* alive;
};

// What the tasks of a rank use.
struct objects {
  text_map& map;
  words array;
  std::atomic<int>& alive;
};

text name_of(std::uint64_t k) { return text("entry " + std::to_string(k)); }

task<> use(objects of, std::uint64_t seed, int operations) {
  const counted c(&of.alive);
  random64 random(seed);
  for (int i = 0; i != operations; ++i) {  // for ever if negative
    const auto k = random.below(200);
    switch (random.below(6)) {
      case 0:
        static_cast<void>(co_await of.map.insert(name_of(k), k));
        break;
      case 1:
        static_cast<void>(co_await of.map.erase(name_of(k)));
        break;
      case 2:
        static_cast<void>(co_await of.map.update(name_of(k), k));
        break;
      case 3:
        static_cast<void>(co_await of.map.find(name_of(k)));
        break;
      case 4:
        co_await of.array.put(k, seed);
        break;
      default:
        static_cast<void>(co_await of.array.fetch_add(k, 1));
    }
    if (i % 8 == 7) co_await cairn::task::yield();
  }
}
task<> throws_after(objects of, std::uint64_t seed) {
  co_await use(of, seed, 3);
  throw std::runtime_error("one of many");
}

// One of the tasks throws. All the others end.
task<> one_throws(objects of, std::uint64_t tasks) {
  std::vector<task<>> all;
  for (std::uint64_t t = 0; t < tasks; ++t) {
    all.push_back(t == tasks / 2 ? throws_after(of, t) : use(of, t, 4));
  }
  co_await cairn::task::when_all_spread(std::move(all));
}
// The root throws while the others work.
task<> root_throws(objects of, std::uint64_t tasks) {
  for (std::uint64_t t = 0; t < tasks; ++t) {
    auto dropped = co_await cairn::task::spawn(use(of, t, -1));
  }
  co_await use(of, tasks, 20);
  throw std::runtime_error("one of many");
}
task<> ends(objects of, std::uint64_t tasks) {
  std::vector<task<>> all;
  for (std::uint64_t t = 0; t < tasks; ++t) all.push_back(use(of, t, 4));
  co_await cairn::task::when_all_spread(std::move(all));
}

class HashMapEnds : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, HashMapEnds, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

std::uint64_t num_tasks(const support::place& at) {
  const std::uint64_t few = at.how == support::place::network::rings ? 10'000 : 1000;
  return support::few_when_sanitized(few) / static_cast<std::uint64_t>(at.ranks);
}

using root = task<> (*)(objects, std::uint64_t);
void run_that_throws(const support::place& at, root f) {
  std::atomic<int> alive = 0;
  const auto run = [&] {
    at.run([&](world& w) {
      text_map map(w);
      global_memory memory(w, {.cache_bytes = 0});
      const auto array = memory.collective_alloc<std::uint64_t>(200);
      const objects of{map, memory.view(array), alive};
      w.run(w.rank() == w.size() - 1 ? f(of, num_tasks(at)) : ends(of, num_tasks(at)));
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(alive, 0);
}
TEST_P(HashMapEnds, AnExceptionOfOneOfManyTasksLeavesNone) {
  run_that_throws(GetParam(), one_throws);
}
TEST_P(HashMapEnds, AnExceptionWhileManyTasksWorkLeavesNone) {
  run_that_throws(GetParam(), root_throws);
}

task<> work_until_cancelled(objects of, world* w, std::uint64_t tasks, bool cancels) {
  for (std::uint64_t t = 0; t < tasks / 2; ++t) {
    auto dropped = co_await cairn::task::spawn(use(of, t, -1));
  }
  std::vector<task<>> all;
  for (std::uint64_t t = tasks / 2; t < tasks; ++t) all.push_back(use(of, t, -1));
  for (int i = 0; i < 3; ++i) co_await cairn::task::yield();
  if (cancels) w->cancel();
  co_await cairn::task::when_all_spread(std::move(all));
}
task<std::uint64_t> insert_and_find(text_map* map, std::uint64_t rank) {
  std::uint64_t wrong = 0;
  for (std::uint64_t k = 0; k < 50; ++k) {
    wrong += !co_await map->insert(name_of(rank * 1000 + k), k);
    const auto found = co_await map->find(name_of(rank * 1000 + k));
    wrong += found != std::optional(k);
  }
  co_return wrong;
}

void cancel_runs(world& w, std::uint64_t tasks, int rounds) {
  std::atomic<int> alive = 0;
  const auto rank = static_cast<std::uint64_t>(w.rank());
  for (int round = 0; round < rounds; ++round) {
    {
      text_map map(w);
      global_memory memory(w, {.cache_bytes = 0});
      const auto array = memory.collective_alloc<std::uint64_t>(200);
      const objects of{map, memory.view(array), alive};
      const bool cancels = w.rank() == round % w.size();
      EXPECT_THROW(w.run(work_until_cancelled(of, &w, tasks, cancels)), cancelled);
      EXPECT_EQ(alive, 0);
    }
    EXPECT_EQ(w.tasks().num_live(), 0u);
    text_map fresh(w);
    EXPECT_EQ(w.run(insert_and_find(&fresh, rank)), 0u);
    EXPECT_EQ(fresh.size(), 50u * static_cast<std::uint64_t>(w.size()));
  }
}
TEST_P(HashMapEnds, CancelLeavesNoTaskAndTheNextMapIsRight) {
  GetParam().run([](world& w) { cancel_runs(w, num_tasks(GetParam()), 2); });
}
// Their frames take about 150 MB.
TEST(HashMapEndsOnOneRank, CancelWithManyTasksAliveLeavesNone) {
  world w(2);
  cancel_runs(w, support::few_when_sanitized(250'000), 1);
}

}  // namespace
}  // namespace cairn::pgas
