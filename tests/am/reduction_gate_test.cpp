// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/am/reduce.hpp>
#include <cairn/am/reduction_gate.hpp>
#include <cairn/base/random.hpp>

namespace cairn::am {
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

TEST(ReductionGate, MessagesWithoutCommonKeysPassBy) {
  combine_table<update> table(entries, keys);
  random64 random(1);
  const auto seen = offer(table, 1 << 22, keys, random);
  EXPECT_LT(seen.offered - seen.passed_by, seen.offered / 100);
}

TEST(ReductionGate, MessagesWithCommonKeysAreAllOffered) {
  combine_table<update> table(entries, keys);
  random64 random(2);
  const auto seen = offer(table, 1 << 20, entries / 8, random);
  EXPECT_EQ(seen.passed_by, 0u);
  EXPECT_GT(seen.merged, seen.offered / 2);
}

TEST(ReductionGate, ATableThatFillsIsNotJudgedByItsFreePlaces) {
  combine_table<update> table(std::size_t{1} << 16, keys);
  random64 random(3);
  // Of the first windows most messages find a free place.
  const auto first = offer(table, 8 * reduction_gate::window, 1 << 14, random);
  EXPECT_EQ(first.passed_by, 0u);
  EXPECT_EQ(offer(table, 1 << 20, 1 << 14, random).passed_by, 0u);
}

TEST(ReductionGate, APhaseWithFewKeysIsNoticed) {
  combine_table<update> table(entries, keys);
  random64 random(4);
  offer(table, 1 << 23, keys, random);
  offer(table, reduction_gate::longest_pause, 100, random);
  const auto later = offer(table, 1 << 20, 100, random);
  EXPECT_EQ(later.passed_by, 0u);
  EXPECT_GT(later.merged, later.offered * 9 / 10);
}

// All keys fit: a caller may rely on one message per key.
TEST(ReductionGate, ADenseTableIsAlwaysUsed) {
  combine_table<update> table(entries, entries);
  random64 random(5);
  EXPECT_EQ(offer(table, 1 << 20, entries, random).passed_by, 0u);
}

// What passes by and what the table holds are all updates.
TEST(ReductionGate, NothingIsLostWhileItOpensAndCloses) {
  combine_table<update> table(64, keys);
  random64 random(6);
  std::uint64_t given = 0, received = 0;
  const auto take = [&](update&& m) { received += m.amount; };
  for (int phase = 0; phase < 8; ++phase) {
    for (int i = 0; i < 200'000; ++i) {
      const auto key = random.below(phase % 2 == 0 ? keys : 32);
      static_cast<void>(table.offer(sum_by_key{}, update{key, 1}, take));
      ++given;
    }
  }
  table.drain(take);
  EXPECT_EQ(received, given);
}

}  // namespace
}  // namespace cairn::am
