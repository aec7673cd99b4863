// SPDX-License-Identifier: Apache-2.0
// Operations on an entry are linearizable, also while tables grow.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/pgas/hash_map.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>
#include <cairn/task/yield.hpp>

#include <support/histories.hpp>
#include <support/history_search.hpp>
#include <support/num_schedules.hpp>
#include <support/places.hpp>

namespace cairn::pgas::hash_map_order_test {
namespace {

using cairn::task::task;
using cairn::task::when_all;
using support::effect;
using support::recording;

enum class verb { insert, find, update, erase };

// An operation on one entry, as its task saw it. A value is 0 if the entry is not there.
struct event {
  verb action = verb::find;
  std::uint64_t value = 0;             // to write
  std::uint64_t before = 0;            // found by find and update
  bool succeeded = false;              // insert, erase
  std::uint64_t began = 0, ended = 0;  // by a clock that all ranks share
};
effect apply(const event& e, std::uint64_t is) {
  switch (e.action) {
    case verb::insert:
      return {e.succeeded == (is == 0), is == 0 ? e.value : is};
    case verb::erase:
      return {e.succeeded == (is != 0), 0};
    case verb::update:
      return {e.before == is, is == 0 ? 0 : e.value};
    case verb::find:
      break;
  }
  return {e.before == is, is};
}
bool linearizable(const std::vector<event>& events) {
  return support::history_search(events, apply).linearizable(0);
}

TEST(EntryHistory, FindsAnOrderIfThereIsOne) {
  const event in{verb::insert, 5, 0, true, 1, 4}, late{verb::find, 0, 5, false, 2, 3},
      early{verb::find, 0, 0, false, 2, 3}, stale{verb::find, 0, 0, false, 5, 6};
  EXPECT_TRUE(linearizable({in, late}));
  EXPECT_TRUE(linearizable({in, late, early}));
  EXPECT_FALSE(linearizable({in, stale}));
  const event twice{verb::insert, 6, 0, true, 2, 3}, out{verb::erase, 0, 0, true, 1, 9};
  EXPECT_FALSE(linearizable({in, twice}));
  EXPECT_TRUE(linearizable({in, twice, out}));
  const event one{verb::update, 7, 5, false, 5, 8}, two{verb::update, 8, 5, false, 6, 9};
  EXPECT_FALSE(linearizable({in, one, two}));  // one update is lost
}

enum class fault { none, updates_in_two_steps, finds_in_a_cache, several_owners };

// A broken twin gives a key another owner on each rank, by a salt.
struct salted_key {
  std::uint64_t key, salt;
  friend bool operator==(const salted_key& a, const salted_key& b) { return a.key == b.key; }
};
// Keys that are alike modulo 4 share an owner, a table and a run in it.
struct salted_hash {
  std::uint64_t operator()(const salted_key& k) const noexcept { return mix64(k.key % 4 + k.salt); }
};
using tested_map = hash_map<salted_key, std::uint64_t, salted_hash>;

// Some operations on one entry, drawn by a seed.
task<> operate(recording<event>& to, tested_map& map, salted_key key, std::uint64_t seed,
               int operations, fault f) {
  random64 random(seed);
  std::uint64_t cached = 0;
  bool has_cached = false;
  for (int k = 0; k < operations; ++k) {
    event e;
    e.action = static_cast<verb>(random.below(4));
    e.value = 1 + random.below(1000);
    e.began = to.now();
    switch (e.action) {
      case verb::insert:
        e.succeeded = co_await map.insert(key, e.value);
        break;
      case verb::erase:
        e.succeeded = co_await map.erase(key);
        break;
      case verb::update:
        if (f == fault::updates_in_two_steps) {
          const auto before = co_await map.find(key);
          e.before = before.value_or(0);
          co_await cairn::task::yield();
          if (before) static_cast<void>(co_await map.update(key, e.value));
        } else {
          const auto before = co_await map.update(key, e.value);
          e.before = before.value_or(0);
        }
        break;
      case verb::find:
        if (f != fault::finds_in_a_cache || !has_cached) {
          const auto found = co_await map.find(key);
          cached = found.value_or(0);
          has_cached = true;
        }
        e.before = cached;
    }
    to.end(e);
  }
}
// Meanwhile the tables of these entries grow: keys that no other task uses.
task<> insert_others(tested_map& map, std::uint64_t first, std::uint64_t n) {
  for (std::uint64_t k = 0; k < n; ++k) {
    static_cast<void>(co_await map.insert({first + k, 0}, k));
    co_await cairn::task::yield();
  }
}
constexpr std::uint64_t growers = 8, others_each = 10;
task<> operate_by_many(std::vector<recording<event>>& all, tested_map& map, std::uint64_t rank,
                       std::uint64_t seed, int tasks, fault f) {
  std::vector<task<>> running;
  for (std::uint64_t key = 0; key < all.size(); ++key) {
    for (int k = 0; k < tasks; ++k) {
      const auto of_task = mix64(seed * 64 + key) + rank * 1000 + static_cast<std::uint64_t>(k);
      const std::uint64_t salt = f == fault::several_owners ? rank * 7919 : 0;
      running.push_back(operate(all[key], map, {key, salt}, mix64(of_task), 4, f));
    }
  }
  for (std::uint64_t t = 0; t < growers; ++t) {
    running.push_back(insert_others(map, (rank * growers + t + 1) << 32, others_each));
  }
  co_await when_all(std::move(running));
}

// Returns how many histories, one per key over all ranks, are impossible.
std::uint64_t num_impossible(const support::place& at, std::uint64_t seed, fault f) {
  std::vector<recording<event>> all(4);
  const int tasks = at.ranks <= 3 ? 2 : 1;
  at.with_seed(seed).run([&](world& w) {
    tested_map map(w);
    w.run(operate_by_many(all, map, static_cast<std::uint64_t>(w.rank()), seed, tasks, f));
    EXPECT_GE(map.size(), growers * others_each * static_cast<std::uint64_t>(w.size()));
  });
  return support::num_impossible(all, static_cast<std::size_t>(4 * tasks * at.ranks), linearizable);
}

class HashMapOrder : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, HashMapOrder, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(HashMapOrder, OperationsOnAnEntryAreLinearizable) {
  const std::uint64_t seeds = GetParam().simulated() ? support::num_seeds(5) : 2;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    ASSERT_EQ(num_impossible(GetParam(), seed, fault::none), 0u) << "seed " << seed;
  }
}

std::uint64_t num_caught(fault f) {
  return support::num_caught(50, [f](const support::place& at, std::uint64_t seed) {
    return num_impossible(at, seed, f);
  });
}
TEST(HashMapTwin, ThatUpdatesInTwoStepsIsCaught) {
  EXPECT_GT(num_caught(fault::updates_in_two_steps), 4u);
}
TEST(HashMapTwin, ThatFindsInACacheIsCaught) { EXPECT_GT(num_caught(fault::finds_in_a_cache), 4u); }
TEST(HashMapTwin, WhoseKeysHaveSeveralOwnersIsCaught) {
  EXPECT_GT(num_caught(fault::several_owners), 4u);
}

using numbers = hash_map<std::uint64_t, std::uint64_t>;

// Entries that are there, looked up while tables grow around them.
task<std::uint64_t> find_all(numbers& map, std::uint64_t keys, int rounds) {
  std::uint64_t wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint64_t k = 0; k < keys; ++k) {
      const auto found = co_await map.find(k);
      wrong += found != std::optional(3 * k);
    }
    co_await cairn::task::yield();
  }
  co_return wrong;
}
task<std::uint64_t> insert_new(numbers& map, std::uint64_t first, std::uint64_t n) {
  std::uint64_t wrong = 0;
  for (std::uint64_t k = first; k < first + n; ++k) {
    wrong += !co_await map.insert(k, k);
    if (k % 16 == 0) co_await cairn::task::yield();
  }
  co_return wrong;
}
task<> insert_known(numbers& map, std::uint64_t rank, std::uint64_t keys) {
  if (rank != 0) co_return;
  for (std::uint64_t k = 0; k < keys; ++k) static_cast<void>(co_await map.insert(k, 3 * k));
}
constexpr std::uint64_t inserters = 16;
task<std::uint64_t> grow_while_found(numbers& map, std::uint64_t rank, std::uint64_t keys,
                                     std::uint64_t n) {
  std::vector<task<std::uint64_t>> all;
  for (std::uint64_t t = 0; t < inserters; ++t) {
    if (t % 4 == 0) all.push_back(find_all(map, keys, 2));
    all.push_back(insert_new(map, (rank * inserters + t + 1) << 32, n));
  }
  const auto counts = co_await cairn::task::when_all_spread(std::move(all));
  std::uint64_t wrong = 0;
  for (const auto c : counts) wrong += c;
  co_return wrong;
}

TEST_P(HashMapOrder, EntriesAreFoundWhileTablesGrow) {
  const std::uint64_t n = GetParam().ranks > 1 ? 50 : 1000;
  GetParam().run([n](world& w) {
    const auto rank = static_cast<std::uint64_t>(w.rank());
    numbers map(w);
    w.run(insert_known(map, rank, 20));
    EXPECT_EQ(w.run(grow_while_found(map, rank, 20, n)), 0u);
    EXPECT_EQ(map.size(), 20 + inserters * n * static_cast<std::uint64_t>(w.size()));
  });
}

}  // namespace
}  // namespace cairn::pgas::hash_map_order_test
