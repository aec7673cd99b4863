// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/traverse/bucket_queue.hpp>

namespace cairn::traverse::bucket_queue_test {
namespace {

using entry = reached_vertex<std::uint32_t, std::uint64_t>;
constexpr auto none = bucket_queue<entry>::none;

// Compares the queue with a map. Pushes entries from the first bucket on, or from slightly before
// it, as messages from other ranks do; takes entries up to ends that never decrease; gives entries
// away.
void play(world& w, double width, std::uint64_t spread, std::uint64_t seed) {
  random64 random(seed);
  bucket_queue<entry> queue(w, width);
  std::multimap<std::uint64_t, std::uint64_t> expected;  // from bucket to distance
  const auto bucket_of = [&](std::uint64_t d) {
    return static_cast<std::uint64_t>(static_cast<double>(d) / width);
  };
  std::uint64_t reached = 0, end = 1;
  const auto came_out = [&](const entry& e) {
    const auto bucket = bucket_of(e.distance);
    ASSERT_LT(bucket, end);
    const auto [begin, last] = expected.equal_range(bucket);
    const auto at =
        std::find_if(begin, last, [&](const auto& x) { return x.second == e.distance; });
    ASSERT_NE(at, last);
    expected.erase(at);
    reached = std::max(reached, e.distance);
  };
  for (int step = 0; step < 3'000; ++step) {
    for (auto pushes = random.below(8); pushes > 0; --pushes) {
      const auto back = std::min(reached, random.below(4) == 0 ? random.below(spread) : 0);
      const auto d = reached - back + (random.below(spread) >> random.below(20));
      EXPECT_EQ(queue.push({0, d}), bucket_of(d));
      expected.emplace(bucket_of(d), d);
    }
    ASSERT_EQ(queue.first_bucket() == none, expected.empty());
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_LE(queue.first_bucket(), expected.empty() ? none : expected.begin()->first);
    if (random.below(2) == 0) end = std::max(end, bucket_of(reached) + random.below(3));
    if (random.below(16) == 0) {
      std::vector<entry> given;
      queue.give_half(end, given);
      for (const auto& e : given) came_out(e);
    } else {
      const auto taken = queue.take(end);
      ASSERT_LE(taken.empty(), expected.empty() || expected.begin()->first >= end);
      for (const auto& e : taken) came_out(e);
      if (taken.empty() && !expected.empty()) end = expected.begin()->first + 1;
    }
  }
  end = none;
  for (auto taken = queue.take(none); !taken.empty(); taken = queue.take(none)) {
    for (const auto& e : taken) came_out(e);
  }
  EXPECT_TRUE(expected.empty());
}

// Distances far apart, in any order: each entry is distributed at most a few times.
TEST(BucketQueue, SortsDistancesOfAnySize) {
  world w;
  random64 random(1);
  bucket_queue<entry> queue(w, 1);
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    static_cast<void>(queue.push({i, random() >> (2 + random.below(60))}));
  }
  std::uint64_t before = 0, entries = 0;
  for (auto taken = queue.take(none); !taken.empty(); taken = queue.take(none)) {
    for (const auto& e : taken) {
      EXPECT_LE(before, e.distance);
      before = e.distance;
      ++entries;
    }
  }
  EXPECT_EQ(entries, 200'000u);
}

TEST(BucketQueue, GivesTheEntriesOfTheFirstBucketOutOnce) {
  world w;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    play(w, 1, 500, seed);
    play(w, 4, 100'000, seed);
    play(w, 0.5, std::uint64_t{1} << 45, seed);
    play(w, 0x1p40, std::uint64_t{1} << 45, seed);
  }
}

TEST(BucketQueue, GivesABoundedPartOfManyEntries) {
  using queue_type = bucket_queue<entry>;
  constexpr std::size_t many = 3 * queue_type::max_given * 512 / sizeof(entry);
  world w;
  queue_type queue(w, HUGE_VAL);
  for (std::size_t i = 0; i < many; ++i) static_cast<void>(queue.push({0, i}));
  std::vector<entry> given;
  queue.give_half(none, given);
  EXPECT_GT(given.size(), many / 4);
  EXPECT_LE(given.size(), many / 3);
  EXPECT_EQ(queue.size() + given.size(), many);
}

TEST(BucketQueue, OfInfiniteWidthIsFirstInFirstOutByChunks) {
  world w;
  bucket_queue<entry> queue(w, HUGE_VAL);
  for (std::uint64_t i = 0; i < 1'000; ++i) EXPECT_EQ(queue.push({0, 1'000'000 - i}), 0u);
  std::uint64_t next = 0;
  for (auto taken = queue.take(1); !taken.empty(); taken = queue.take(1)) {
    for (const auto& e : taken) EXPECT_EQ(e.distance, 1'000'000 - next++);
  }
  EXPECT_EQ(next, 1'000u);
}

TEST(BucketQueue, TakesDistancesBeyondAllBuckets) {
  world w;
  bucket_queue<reached_vertex<std::uint32_t, double>> queue(w, 0x1p-40);
  static_cast<void>(queue.push({1, 0x1p300}));
  static_cast<void>(queue.push({2, 0}));
  EXPECT_EQ(queue.take(none).front().vertex, 2u);
  EXPECT_EQ(queue.take(none).front().vertex, 1u);
  EXPECT_TRUE(queue.take(none).empty());
}

}  // namespace
}  // namespace cairn::traverse::bucket_queue_test
