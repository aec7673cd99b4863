// SPDX-License-Identifier: Apache-2.0
// Runs of tasks that end early, while operations on hash maps and global arrays are in flight.
#include <atomic>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/bounded_text.hpp>
#include <cairn/pgas/global_view.hpp>
#include <cairn/pgas/hash_map.hpp>
#include <cairn/task/event.hpp>
#include <cairn/task/future.hpp>
#include <cairn/task/latch.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <support/num_schedules.hpp>
#include <support/on_ranks.hpp>
#include <support/peak_memory.hpp>
#include <support/places.hpp>

namespace cairn::pgas::hash_map_ends_test {
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
  const std::uint64_t few = at.kind == support::place::network::rings ? 10'000 : 1000;
  return support::few_when_sanitized(few) / static_cast<std::uint64_t>(at.ranks);
}

using throwing_root = task<> (*)(objects, std::uint64_t);
void run_that_throws(const support::place& at, throwing_root f) {
  std::atomic<int> alive = 0;
  const auto run = [&] {
    at.run([&](world& w) {
      text_map map(w);
      global_memory memory(w, {.cached = {.own_bytes = 0, .shared_bytes = 0, .partly_bytes = 0}});
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

/// Runs a root that is cancelled, and then what is right only if nothing is left of it.
void run_cancelled(world& w, const std::function<task<>(objects)>& root) {
  std::atomic<int> alive = 0;
  {
    text_map map(w);
    global_memory memory(w, {.cached = {.own_bytes = 0, .shared_bytes = 0, .partly_bytes = 0}});
    const auto array = memory.collective_alloc<std::uint64_t>(200);
    EXPECT_THROW(w.run(root({map, memory.view(array), alive})), cancelled);
    EXPECT_EQ(alive, 0);
  }
  EXPECT_EQ(w.tasks().num_live(), 0u);
  text_map fresh(w);
  EXPECT_EQ(w.run(insert_and_find(&fresh, static_cast<std::uint64_t>(w.rank()))), 0u);
  EXPECT_EQ(fresh.size(), 50u * static_cast<std::uint64_t>(w.size()));
}
TEST_P(HashMapEnds, CancelLeavesNoTaskAndTheNextMapIsRight) {
  GetParam().run([](world& w) {
    for (int round = 0; round < 2; ++round) {
      const bool cancels = w.rank() == round % w.size();
      run_cancelled(w, [&](objects of) {
        return work_until_cancelled(of, &w, num_tasks(GetParam()), cancels);
      });
    }
  });
}

// Changes and reads elements of all ranks for ever, with many requests in flight.
task<> change_for_ever(words a, std::uint64_t seed, global_memory* memory) {
  random64 random(seed);
  std::vector<std::uint64_t> three(3, 7);
  auto ops = co_await memory->operations();
  for (auto turn = seed;; ++turn) {
    const auto i = random.below(a.size() - 3);
    if (turn % 2 == 0) {
      co_await a.add(i, 5);
      co_await a.put(i, 7);
      co_await a.fill(i, 11);
    } else {
      a.put(i, std::span<const std::uint64_t>(three), ops);
      a.max(i, 9, ops);
      a.fill(i, 13, ops);
      co_await ops.wait();
    }
    for (auto j = i; j < i + 3; ++j) static_cast<void>(co_await a.get(j));
  }
}
task<> change_until_cancelled(words a, world* w, global_memory* memory, std::uint64_t seed) {
  for (std::uint64_t t = 0; t < 20; ++t) {
    auto dropped = co_await cairn::task::spawn(change_for_ever(a, mix64(seed * 100 + t), memory));
  }
  for (auto n = mix64(seed) % 300; n > 0; --n) co_await cairn::task::yield();
  if (w->rank() == 0) w->cancel();
  for (;;) co_await cairn::task::yield();
}
task<std::uint64_t> sum_of(words a, global_memory* memory) {
  std::vector<std::uint64_t> values(a.size());
  auto ops = co_await memory->operations();
  for (std::uint64_t i = 0; i < a.size(); ++i) a.get(i, &values[i], ops);
  co_await ops.wait();
  co_return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}
task<> add_one_to_each(words a) {
  for (std::uint64_t i = 0; i < a.size(); ++i) co_await a.add(i, 1);
}

// The array is used again, then freed while requests of destroyed tasks may still arrive.
TEST(GlobalArrayEnds, CancelledTasksChangeNothingInTheNextRun) {
  for (std::uint64_t seed = 1; seed <= support::few_when_sanitized(200); ++seed) {
    support::on_simulated_ranks(
        2 + static_cast<rank_t>(seed % 2), 1 + static_cast<int>(seed % 3) / 2, seed, [&](world& w) {
          global_memory memory(w, {.share_gets = seed % 4 < 2});
          auto a = memory.collective_alloc<std::uint64_t>(40, {.full_empty = true});
          for (int round = 0; round < 3; ++round) {
            auto view = memory.view(a);
            EXPECT_THROW(w.run(change_until_cancelled(view, &w, &memory, seed)), cancelled);
            if (round == 1) {
              memory.collective_free(a);
              a = memory.collective_alloc<std::uint64_t>(40, {.full_empty = true});
              view = memory.view(a);
            }
            for (auto& x : view.local()) x = 0;
            w.barrier();
            EXPECT_EQ(w.run(sum_of(view, &memory)), 0u);
            w.barrier();
            w.run(add_one_to_each(view));
            w.barrier();
            for (const auto x : view.local()) EXPECT_EQ(x, static_cast<std::uint64_t>(w.size()));
            w.barrier();
          }
          for (worker_t k{0}; k < w.workers(); ++k) EXPECT_EQ(memory.traffic().num_groups(k), 0u);
        });
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

struct meeting {
  explicit meeting(int tasks) : all_began(static_cast<std::uint64_t>(tasks)) {}
  cairn::task::latch all_began;
  cairn::task::event go, never;
};
task<> works_or_waits(objects of, std::uint64_t seed, meeting* at) {
  const counted c(&of.alive);
  co_await use(of, seed, 1);
  at->all_began.count_down();
  co_await at->go;
  if (seed % 100 == 0) co_await use(of, seed, -1);
  co_await at->never;
}
// Cancels once all tasks of all ranks have begun: one in 100 works, the others wait.
task<> cancel_when_all_are_alive(objects of, world* w, int tasks, std::atomic<int>* ready) {
  meeting at(tasks);
  for (int t = 0; t < tasks; ++t) {
    auto dropped =
        co_await cairn::task::spawn(works_or_waits(of, static_cast<std::uint64_t>(t), &at));
  }
  co_await at.all_began;
  EXPECT_EQ(of.alive, tasks);
  at.go.set();
  ++*ready;
  while (*ready < w->size()) co_await cairn::task::yield();
  if (w->rank() == 0) w->cancel();
  co_await at.never;
}

// Their frames, and what they asked, take less than 1 GB.
void cancel_a_million(world& w, std::atomic<int>& ready) {
  const auto before = support::peak_kib();
  const auto tasks = (support::sanitized ? 50'000 : 1'000'000) / w.size();
  run_cancelled(w, [&](objects of) { return cancel_when_all_are_alive(of, &w, tasks, &ready); });
  if (support::sanitized) return;
  EXPECT_LT(support::peak_kib() - before, 1 << 20) << "KiB";
}
TEST(HashMapEndsOnOneRank, CancelWithAMillionTasksAliveLeavesNone) {
  std::atomic<int> ready = 0;
  world w(2);
  cancel_a_million(w, ready);
}
TEST(HashMapEndsOnTwoRanks, CancelWithAMillionTasksAliveLeavesNone) {
  std::atomic<int> ready = 0;
  support::on_ranks(2, 1, [&](world& w) { cancel_a_million(w, ready); });
}

}  // namespace
}  // namespace cairn::pgas::hash_map_ends_test
