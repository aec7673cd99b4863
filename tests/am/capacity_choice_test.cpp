// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/capacity_choice.hpp>
#include <cairn/am/combine_table.hpp>
#include <cairn/base/random.hpp>

namespace cairn::am::capacity_choice_test {
namespace {

struct update {
  std::uint64_t key = 0, amount = 0;
};
struct sum_by_key {
  static std::uint64_t key(const update& m) { return m.key; }
  static void combine(update& kept, const update& m) { kept.amount += m.amount; }
};

constexpr std::uint64_t keys = std::uint64_t{1} << 40;
constexpr std::size_t entries = 1 << 12;

struct outcome {
  std::uint64_t offered = 0, merged = 0, passed_by = 0;
};

// Offers n updates whose keys are uniform below `used`.
outcome offer(combine_table<update>& table, std::uint64_t n, std::uint64_t used, random64& random) {
  outcome seen;
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto became = table.offer(sum_by_key{}, update{random.below(used), 1}, [](update&&) {});
    ++seen.offered;
    seen.merged += became == offered::merged;
    seen.passed_by += became == offered::passed;
  }
  return seen;
}

TEST(CapacityChoice, MessagesWithoutCommonKeysPassBy) {
  combine_table<update> table({.entries = entries, .keys = keys});
  random64 random(1);
  const auto seen = offer(table, 1 << 22, keys, random);
  EXPECT_LT(seen.offered - seen.passed_by, seen.offered / 100);
}

TEST(CapacityChoice, MessagesWithCommonKeysAreAllOffered) {
  combine_table<update> table({.entries = entries, .keys = keys});
  random64 random(2);
  const auto seen = offer(table, 1 << 20, entries / 8, random);
  EXPECT_EQ(seen.passed_by, 0u);
  EXPECT_GT(seen.merged, seen.offered / 2);
}

// Of its first messages most find a free place.
TEST(CapacityChoice, ATableThatFillsIsNotJudgedByItsFreePlaces) {
  combine_table<update> table({.entries = std::size_t{1} << 16, .keys = keys});
  random64 random(3);
  EXPECT_EQ(offer(table, 1 << 20, 1 << 14, random).passed_by, 0u);
}

TEST(CapacityChoice, ASmallTableStaysWhereItMergesMost) {
  combine_table<update> table({.entries = std::size_t{1} << 16, .keys = keys});
  random64 random(7);
  const auto seen = offer(table, 1 << 20, 100, random);
  EXPECT_EQ(table.entries(), capacity_choice::smallest);
  EXPECT_GT(seen.merged, seen.offered * 9 / 10);
}

TEST(CapacityChoice, ATableGrowsUntilItsKeysFit) {
  for (const std::uint64_t used : {3'000, 12'000, 40'000}) {
    combine_table<update> table({.entries = std::size_t{1} << 16, .keys = keys},
                                capacity_choice::saving::large);
    random64 random(used);
    offer(table, 1 << 20, used, random);
    EXPECT_GE(table.entries(), used) << used;
    const auto later = offer(table, 1 << 20, used, random);
    EXPECT_EQ(later.passed_by, 0u) << used;
    EXPECT_GT(later.merged, later.offered / 2) << used;
  }
}

// One message in ten has a key of its own, whatever the table.
TEST(CapacityChoice, GrowthThatMergesNoMoreIsTakenBack) {
  capacity_choice choice(std::size_t{1} << 16, capacity_choice::saving::large);
  random64 random(8);
  std::uint64_t small = 0, all = 0;
  for (int i = 0; i < 1 << 22; ++i) {
    choice.offered(1);
    static_cast<void>(choice.changes());
    ASSERT_TRUE(choice.open());
    if (random.below(10) == 0) choice.entered();
    ++all;
    small += choice.capacity() == capacity_choice::smallest;
  }
  EXPECT_GT(small, all * 95 / 100);
  EXPECT_LT(small, all) << "it is tried";
}

// What becomes of n messages; enters() says of one that is offered whether it is not merged.
struct attempts {
  std::uint64_t offered = 0;
  std::size_t largest = 0;  // table
};
template <class Enters>
attempts attempts_of(capacity_choice& choice, std::uint64_t n, Enters enters) {
  attempts seen;
  for (std::uint64_t i = 0; i < n; ++i) {
    if (!choice.open()) {
      choice.bypassed(1);
      continue;
    }
    choice.offered(1);
    static_cast<void>(choice.changes());
    ++seen.offered;
    seen.largest = std::max(seen.largest, choice.capacity());
    if (enters()) choice.entered();
  }
  return seen;
}

TEST(CapacityChoice, NoTableIsTriedThatCouldNotMergeEnough) {
  capacity_choice choice(std::size_t{1} << 16);
  random64 random(9);
  const auto seen = attempts_of(choice, 1 << 24, [&] { return random.below(1000) != 0; });
  EXPECT_EQ(seen.largest, capacity_choice::smallest);
  EXPECT_LT(seen.offered, std::uint64_t{1} << 18);
}

TEST(CapacityChoice, APhaseWithFewKeysIsNoticed) {
  combine_table<update> table({.entries = entries, .keys = keys});
  random64 random(4);
  offer(table, 1 << 23, keys, random);
  offer(table, capacity_choice::longest_pause, 100, random);
  const auto later = offer(table, 1 << 20, 100, random);
  EXPECT_EQ(later.passed_by, 0u);
  EXPECT_GT(later.merged, later.offered * 9 / 10);
}

// What a table merged of an earlier phase says nothing of larger ones.
TEST(CapacityChoice, ALaterPhaseWithMoreKeysGetsALargerTable) {
  combine_table<update> table({.entries = std::size_t{1} << 14, .keys = keys},
                              capacity_choice::saving::large);
  random64 random(11);
  offer(table, 1 << 18, 100, random);
  EXPECT_EQ(table.entries(), capacity_choice::smallest);
  EXPECT_EQ(offer(table, 1 << 18, 6000, random).passed_by, 0u);
  EXPECT_GT(table.entries(), capacity_choice::smallest);
}

// All keys fit: a caller may rely on one message per key.
TEST(CapacityChoice, ADenseTableIsAlwaysUsed) {
  combine_table<update> table({.entries = entries, .keys = entries});
  random64 random(5);
  EXPECT_EQ(offer(table, 1 << 20, entries, random).passed_by, 0u);
}

// What passes by and what the table holds are all updates.
TEST(CapacityChoice, NothingIsLostWhileItOpensGrowsAndCloses) {
  constexpr std::size_t distinct = 1'000'000;
  for (const auto& [size, few] : {std::pair<std::size_t, std::uint64_t>{64, 32}, {1 << 14, 5000}}) {
    combine_table<update> table({.entries = size, .keys = keys});
    random64 random(6);
    std::vector<std::uint64_t> due(distinct), received(distinct);
    const auto take = [&](update&& m) { received[m.key] += m.amount; };
    std::size_t largest = 0;
    for (int phase = 0; phase < 8; ++phase) {
      for (int i = 0; i < 200'000; ++i) {
        const auto key = random.below(phase % 2 == 0 ? keys : few) % distinct;
        static_cast<void>(table.offer(sum_by_key{}, update{key, 1}, take));
        ++due[key];
        largest = std::max(largest, table.entries());
      }
    }
    table.drain(take);
    EXPECT_EQ(received, due);
    EXPECT_EQ(largest > capacity_choice::smallest, size > capacity_choice::smallest);
  }
}

// Uniform keys, somewhat more than the largest table has entries: all tables are tried, and their
// messages are a small share of all.
TEST(CapacityChoice, APauseIsLongAfterALongAttempt) {
  constexpr std::uint64_t used = 70'000, all = std::uint64_t{1} << 25;
  capacity_choice choice(std::size_t{1} << 16);
  random64 random(10);
  const auto seen = attempts_of(choice, all, [&] {
    // Too few merge in the largest, too.
    return random.below(used) >= std::min<std::uint64_t>(choice.capacity(), used * 7 / 10);
  });
  EXPECT_EQ(seen.largest, std::size_t{1} << 16);
  EXPECT_LT(seen.offered, all / 40);
}

}  // namespace
}  // namespace cairn::am::capacity_choice_test
