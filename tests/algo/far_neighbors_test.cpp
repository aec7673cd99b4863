// SPDX-License-Identifier: Apache-2.0
#include "algo/far_neighbors.hpp"

#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/graph/csr.hpp>
#include <cairn/hw/pages.hpp>

#include "algo/pagerank_pull.hpp"
#include "algo/row_lengths.hpp"

namespace cairn::algo {
namespace {

using id = std::uint32_t;

// Rows of 16 edges of vertices spread over n; row i's sources are source(i, random).
graph::csr<id> rows_of(std::uint64_t num_rows,
                       const std::function<std::uint64_t(std::uint64_t, random64&)>& source) {
  constexpr std::uint64_t degree = 16;
  random64 random(3);
  hw::page_buffer<std::uint64_t> offsets(num_rows + 1);
  hw::page_buffer<id> targets(num_rows * degree);
  for (std::uint64_t i = 0; i <= num_rows; ++i) offsets.data()[i] = i * degree;
  for (std::uint64_t i = 0; i < num_rows * degree; ++i) {
    targets.data()[i] = static_cast<id>(source(i / degree, random));
  }
  return {0, graph::array(std::move(offsets)), graph::array(std::move(targets))};
}

bool miss(std::uint64_t n, std::uint64_t num_rows,
          const std::function<std::uint64_t(std::uint64_t, random64&)>& source) {
  return sources_miss_cache(rows_of(num_rows, source), n, sizeof(float), 2 << 20);
}

TEST(FarSources, MissTheCacheIfTheyAreManyAndSpread) {
  constexpr std::uint64_t n = 1 << 20, rows = 1 << 14;
  const auto uniform = [](std::uint64_t, random64& r) { return r.below(n); };
  EXPECT_TRUE(miss(n, rows, uniform));
  EXPECT_FALSE(miss(n, rows / 16, uniform)) << "fewer edges than the sample";
  EXPECT_FALSE(miss(n >> 2, rows, [](auto, random64& r) { return r.below(n >> 2); }))
      << "the values fit the cache";
  EXPECT_FALSE(miss(n, rows, [](std::uint64_t i, random64& r) { return 64 * i + r.below(64); }))
      << "the sources of a row are near each other";
  EXPECT_FALSE(miss(n, rows, [](std::uint64_t, random64& r) {
    return r.below(4) == 0 ? r.below(n) : 64 * r.below(1000);
  })) << "most edges come from hubs";
  EXPECT_FALSE(miss(n, 0, uniform));
}

graph::csr<id> rows_of_lengths(std::uint64_t num_rows,
                               const std::function<std::uint64_t(std::uint64_t)>& length) {
  hw::page_buffer<std::uint64_t> offsets(num_rows + 1);
  for (std::uint64_t i = 0; i < num_rows; ++i) offsets[i + 1] = offsets[i] + length(i);
  hw::page_buffer<id> targets(offsets[num_rows]);
  return {0, graph::array(std::move(offsets)), graph::array(std::move(targets))};
}

TEST(RowsOfEqualLength, AreNineOfTen) {
  constexpr std::uint64_t rows = 50'000;
  random64 random(7);
  const auto equal = [](const std::function<std::uint64_t(std::uint64_t)>& length) {
    return rows_of_equal_length(rows_of_lengths(rows, length));
  };
  EXPECT_TRUE(equal([](auto) { return 2; }));
  EXPECT_TRUE(equal([](auto) { return 0; }));
  EXPECT_TRUE(equal([](auto i) { return i == 0 ? rows : 1; })) << "a hub and its leaves";
  EXPECT_TRUE(equal([&](auto) { return random.below(50) == 0 ? 3 : 4; }));
  EXPECT_FALSE(equal([&](auto) { return random.below(10) == 0 ? 3 : 4; }));
  EXPECT_FALSE(equal([](auto i) { return 1 + i % 2; }));
  EXPECT_FALSE(rows_of_equal_length(rows_of_lengths(20, [](auto) { return 2; }))) << "too few";
  EXPECT_FALSE(rows_of_equal_length(rows_of_lengths(0, [](auto) { return 2; })));
}

// All ways to sum a row give the sum of a plain loop, at the end of the array too.
TEST(ContributionSum, AllWaysGiveTheSameSums) {
  random64 random(5);
  std::vector<float> contributions(5000);
  std::iota(contributions.begin(), contributions.end(), 1.0f);
  std::vector<std::uint64_t> offsets{0};
  std::vector<id> targets;
  for (int row = 0; row < 300; ++row) {
    for (auto left = random.below(row % 3 == 0 ? 6 : 90); left > 0; --left) {
      targets.push_back(static_cast<id>(random.below(contributions.size())));
    }
    offsets.push_back(targets.size());
  }
  const contribution_sum<float, id, false> sum(contributions.data(), targets);
  const contribution_sum<float, id, true> shared(contributions.data(), targets);
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    const auto* const at = targets.data() + offsets[row];
    const auto* const end = targets.data() + offsets[row + 1];
    float expected = 0;  // integers below 2^24 have no rounding errors
    for (const auto* u = at; u != end; ++u) expected += contributions[*u];
    EXPECT_EQ(sum.of<row_sum::near>(at, end), expected) << "row " << row;
    EXPECT_EQ(sum.of<row_sum::even>(at, end), expected) << "row " << row;
    EXPECT_EQ(sum.of<row_sum::far>(at, end), expected) << "row " << row;
    EXPECT_EQ(shared.of<row_sum::far>(at, end), expected) << "row " << row;
  }
}

}  // namespace
}  // namespace cairn::algo
