// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/bounded_text.hpp>
#include <cairn/pgas/hash_map.hpp>
#include <cairn/pgas/probing_table.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/when_all.hpp>

#include <support/num_schedules.hpp>
#include <support/places.hpp>

namespace cairn::pgas::hash_map_test {
namespace {

using cairn::task::task;
using cairn::task::when_all;
using cairn::task::when_all_spread;
using text = bounded_text<20>;

TEST(ProbingTable, GrowsIntoMemoryThatWasTakenBefore) {
  probing_table<std::uint32_t, std::uint32_t> table;
  for (std::uint32_t key = 0; key < 5'000; ++key) {
    if (const auto capacity = table.must_grow_to(); capacity != 0) {
      auto memory = table.memory_for(capacity);
      table.grow(memory);
      EXPECT_EQ(table.must_grow_to(), 0u);
    }
    const auto bytes = table.bytes();
    EXPECT_TRUE(table.insert(mix64(key), key, 2 * key));
    EXPECT_EQ(table.bytes(), bytes);
  }
  for (std::uint32_t key = 0; key < 5'000; ++key) {
    const auto* const found = table.find(mix64(key), key);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(*found, 2 * key);
  }
}

// A hash with few values makes long runs, which erasing must keep whole.
TEST(ProbingTable, AgreesWithUnorderedMap) {
  for (const std::uint64_t hashes : {3u, 17u, 1u << 20}) {
    probing_table<std::uint32_t, int> table;
    std::unordered_map<std::uint32_t, int> expected;
    random64 random(hashes);
    for (int step = 0; step < 100'000; ++step) {
      const auto key = static_cast<std::uint32_t>(random.below(200));
      const auto hash = mix64(key) % hashes;
      const int value = static_cast<int>(random.below(1000));
      switch (random.below(4)) {
        case 0:
          ASSERT_EQ(table.insert(hash, key, value), expected.emplace(key, value).second);
          break;
        case 1:
          ASSERT_EQ(table.erase(hash, key), expected.erase(key) == 1);
          break;
        default: {
          const auto* const found = table.find(hash, key);
          const auto at = expected.find(key);
          ASSERT_EQ(found != nullptr, at != expected.end());
          ASSERT_TRUE(found == nullptr || *found == at->second);
        }
      }
      ASSERT_EQ(table.size(), expected.size());
    }
    std::size_t entries = 0;
    table.each([&](std::uint32_t key, int value) {
      ++entries;
      EXPECT_EQ(expected.at(key), value);
    });
    EXPECT_EQ(entries, expected.size());
  }
}

// Growing would move the entries.
TEST(ProbingTable, HoldsWhatItIsReservedForWithoutGrowing) {
  for (const std::size_t n : {1u, 12u, 13u, 1000u, 3072u, 200'000u}) {
    probing_table<std::uint64_t, std::uint64_t> table;
    table.reserve(n);
    table.insert(mix64(0), 0, 7);
    const auto* const first = table.find(mix64(0), 0);
    for (std::uint64_t k = 1; k < n; ++k) ASSERT_TRUE(table.insert(mix64(k), k, k));
    EXPECT_EQ(table.find(mix64(0), 0), first) << n;
    EXPECT_GE((probing_table<std::uint64_t, std::uint64_t>::bytes(n)), 25 * n);
  }
}

TEST(BoundedText, EqualTextsHaveEqualBytes) {
  EXPECT_EQ(text("walk").view(), "walk");
  EXPECT_EQ(byte_hash<text>{}(text("walk")), byte_hash<text>{}(text("walk")));
  EXPECT_NE(byte_hash<text>{}(text("walk")), byte_hash<text>{}(text("klaw")));
  EXPECT_EQ(text("").view(), "");
  EXPECT_EQ(text("12345678901234567890").view().size(), 20u);
  EXPECT_THROW(text("123456789012345678901"), contract_violation);
}

std::uint64_t key_for(std::uint64_t k, std::uint64_t*) { return k; }
text key_for(std::uint64_t k, text*) { return text("key " + std::to_string(k)); }

// Each task works on keys of its own, so that it knows what it must find.
template <class Key, class Hash>
task<std::uint64_t> work(hash_map<Key, std::uint64_t, Hash>& map, std::uint64_t mine, int steps) {
  random64 random(mine + 1);
  std::unordered_map<std::uint64_t, std::uint64_t> expected;
  std::uint64_t wrong = 0;
  for (int step = 0; step < steps; ++step) {
    const auto k = mine << 32 | random.below(60);
    const Key key = key_for(k, static_cast<Key*>(nullptr));
    const auto value = random();
    const auto at = expected.find(k);
    const bool there = at != expected.end();
    switch (random.below(5)) {
      case 0:
      case 1: {
        const bool inserted = co_await map.insert(key, value);
        wrong += inserted == there;
        expected.emplace(k, value);
        break;
      }
      case 2: {
        const bool erased = co_await map.erase(key);
        wrong += erased != there;
        expected.erase(k);
        break;
      }
      case 3: {
        const auto before = co_await map.update(key, value);
        wrong += before.has_value() != there || (there && *before != at->second);
        if (there) at->second = value;
        break;
      }
      default: {
        const auto found = co_await map.find(key);
        wrong += found.has_value() != there || (there && *found != at->second);
      }
    }
  }
  for (const auto& [k, value] : expected) {
    const auto found = co_await map.find(key_for(k, static_cast<Key*>(nullptr)));
    wrong += found != std::optional(value);
  }
  co_return wrong;
}
template <class Key, class Hash>
task<std::uint64_t> work_by_many(hash_map<Key, std::uint64_t, Hash>& map, std::uint64_t rank,
                                 int steps, std::uint64_t tasks = 8) {
  std::vector<task<std::uint64_t>> all;
  for (std::uint64_t t = 0; t < tasks; ++t) all.push_back(work(map, rank * tasks + t, steps));
  const auto counts = co_await when_all_spread(std::move(all));
  std::uint64_t wrong = 0;
  for (const auto c : counts) wrong += c;
  co_return wrong;
}

class HashMap : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, HashMap, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(HashMap, AgreesWithUnorderedMap) {
  const int steps = GetParam().simulated() ? 200 : GetParam().ranks == 1 ? 1000 : 30;
  GetParam().run([steps](world& w) {
    const auto rank = static_cast<std::uint64_t>(w.rank());
    hash_map<std::uint64_t, std::uint64_t> numbers(w);
    EXPECT_EQ(w.run(work_by_many(numbers, rank, steps)), 0u);
    hash_map<text, std::uint64_t> texts(w);
    EXPECT_EQ(w.run(work_by_many(texts, rank, steps)), 0u);
  });
}

// So many operations on all ranks together; `make soak` makes 10^7.
std::uint64_t num_operations() {
  const auto* const many = std::getenv("CAIRN_SOAK_OPERATIONS");
  return many ? std::strtoull(many, nullptr, 10) : support::few_when_sanitized(100'000);
}
class HashMapOperations : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Rings, HashMapOperations, ::testing::ValuesIn(support::ring_places()),
                         support::place_name);

TEST_P(HashMapOperations, AgreeWithUnorderedMapHoweverMany) {
  constexpr std::uint64_t tasks = 256;
  const auto steps = static_cast<int>(num_operations() / tasks) / GetParam().ranks + 1;
  GetParam().run([steps](world& w) {
    hash_map<std::uint64_t, std::uint64_t> map(w);
    EXPECT_EQ(w.run(work_by_many(map, static_cast<std::uint64_t>(w.rank()), steps, tasks)), 0u);
  });
}

// A twin that takes keys of other tasks for the same.
struct blurred {
  std::uint64_t key;
  friend bool operator==(const blurred& a, const blurred& b) { return a.key >> 33 == b.key >> 33; }
};
struct blurred_hash {
  std::uint64_t operator()(const blurred& b) const noexcept { return mix64(b.key >> 33); }
};
blurred key_for(std::uint64_t k, blurred*) { return {k}; }
// A twin whose hash forgets what it was: the entry is at another owner, or in another shard.
struct forgetful_hash {
  static inline std::atomic<std::uint64_t> calls = 0;
  std::uint64_t operator()(std::uint64_t key) const noexcept {
    return mix64(++calls % 100 == 0 ? key + 1 : key);
  }
};
template <class Key, class Hash>
std::uint64_t num_wrong() {
  std::uint64_t wrong = 0;
  support::place{support::place::network::simulated, 2, 1}.run([&](world& w) {
    hash_map<Key, std::uint64_t, Hash> map(w);
    const auto mine = w.run(work_by_many(map, static_cast<std::uint64_t>(w.rank()), 100));
    wrong = w.sum(mine);
  });
  return wrong;
}
TEST(HashMapOperationsTwin, ThatBlursKeysIsCaught) {
  EXPECT_GT((num_wrong<blurred, blurred_hash>()), 0u);
}
TEST(HashMapOperationsTwin, WhoseHashChangesIsCaught) {
  EXPECT_GT((num_wrong<std::uint64_t, forgetful_hash>()), 0u);
}

// All ranks insert the same keys: one succeeds.
task<std::uint64_t> insert_all(hash_map<std::uint64_t, std::uint64_t>& map, std::uint64_t first,
                               std::uint64_t last, std::uint64_t value) {
  std::uint64_t inserted = 0;
  for (auto k = first; k < last; ++k) inserted += co_await map.insert(k, value);
  co_return inserted;
}
task<std::uint64_t> insert_by_many(hash_map<std::uint64_t, std::uint64_t>& map, std::uint64_t keys,
                                   std::uint64_t value) {
  std::vector<task<std::uint64_t>> all;
  for (std::uint64_t t = 0; t < 16; ++t) {
    all.push_back(insert_all(map, keys * t / 16, keys * (t + 1) / 16, value));
  }
  const auto counts = co_await when_all(std::move(all));
  std::uint64_t sum = 0;
  for (const auto c : counts) sum += c;
  co_return sum;
}

TEST(HashMapOwners, OfSmallNumbersHashedToThemselvesAreAllRanks) {
  support::on_simulated_ranks(3, 1, 1, [](world& w) {
    const hash_map<std::uint64_t, int, std::hash<std::uint64_t>> map(w);
    std::vector<int> keys_of(3);
    for (std::uint64_t key = 0; key < 300; ++key) {
      ++keys_of[static_cast<std::size_t>(map.owner(key))];
    }
    for (const auto keys : keys_of) EXPECT_GT(keys, 50);
  });
}

TEST_P(HashMap, GrowsAndInsertsEachKeyOnce) {
  GetParam().run([](world& w) {
    hash_map<std::uint64_t, std::uint64_t> map(w);
    const auto rank = static_cast<std::uint64_t>(w.rank());
    const auto inserted = w.run(insert_by_many(map, 2000, rank));
    EXPECT_EQ(w.sum(inserted), 2000u);
    EXPECT_EQ(map.size(), 2000u);
    std::uint64_t own = 0;
    map.each_own([&](std::uint64_t key, std::uint64_t value) {
      own += key;
      EXPECT_LT(value, static_cast<std::uint64_t>(w.size()));
      EXPECT_EQ(map.owner(key), w.rank());
    });
    EXPECT_EQ(w.sum(own), 1999u * 2000 / 2);
  });
}

}  // namespace
}  // namespace cairn::pgas::hash_map_test
