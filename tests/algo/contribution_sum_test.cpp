// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>

#include "algo/pagerank_pull.hpp"

namespace cairn::algo::contribution_sum_test {
namespace {

using id = std::uint32_t;

// All ways to sum a row give the sum of a plain loop, at the end of the array too.
TEST(ContributionSum, AllWaysGiveTheSameSums) {
  random64 random(5);
  std::vector<float> contributions(5000);
  for (auto& x : contributions) x = static_cast<float>(random.below(1 << 12)) / 8;
  std::vector<std::uint64_t> offsets{0};
  std::vector<id> targets;
  for (int row = 0; row < 300; ++row) {
    for (auto left = random.below(row % 3 == 0 ? 6 : 90); left > 0; --left) {
      targets.push_back(static_cast<id>(random.below(contributions.size())));
    }
    offsets.push_back(targets.size());
  }
  targets.shrink_to_fit();  // so that a sanitizer sees reads beyond the end
  const contribution_sum<float, id, false> sum(contributions.data(), targets);
  const contribution_sum<float, id, true> shared(contributions.data(), targets);
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    const auto* const at = targets.data() + offsets[row];
    const auto* const end = targets.data() + offsets[row + 1];
    float expected = 0;  // multiples of 1/8 below 2^20 have no rounding errors
    for (const auto* u = at; u != end; ++u) expected += contributions[*u];
    EXPECT_EQ(sum.of<row_sum::near>(at, end), expected) << "row " << row;
    EXPECT_EQ(sum.of<row_sum::even>(at, end), expected) << "row " << row;
    EXPECT_EQ(sum.of<row_sum::far>(at, end), expected) << "row " << row;
    EXPECT_EQ(shared.of<row_sum::far>(at, end), expected) << "row " << row;
  }
}

// The sums do not depend on the way, which is chosen by time: not even the rounding errors.
template <class Real>
void expect_equal_rounding(std::size_t num_targets, const std::vector<std::size_t>& lengths) {
  random64 random(6);
  std::vector<Real> contributions(500);
  for (auto& x : contributions) x = 1 / static_cast<Real>(1 + random.below(1 << 20));
  std::vector<id> targets(num_targets);
  for (auto& u : targets) u = static_cast<id>(random.below(contributions.size()));
  const contribution_sum<Real, id, false> sum(contributions.data(), targets);
  for (const auto length : lengths) {
    for (std::size_t begin = 0; begin + length <= num_targets; ++begin) {
      const auto* const at = targets.data() + begin;
      const auto near = sum.template of<row_sum::near>(at, at + length);
      ASSERT_EQ(sum.template of<row_sum::even>(at, at + length), near) << begin << ' ' << length;
      ASSERT_EQ(sum.template of<row_sum::far>(at, at + length), near) << begin << ' ' << length;
    }
  }
}

TEST(ContributionSum, AllWaysRoundEqually) {
  std::vector<std::size_t> lengths(41);
  std::iota(lengths.begin(), lengths.end(), 0);
  expect_equal_rounding<float>(150, lengths);
  expect_equal_rounding<double>(150, lengths);
  expect_equal_rounding<float>(3120, {1023, 1024, 1025, 2048, 3075});
}

}  // namespace
}  // namespace cairn::algo::contribution_sum_test
