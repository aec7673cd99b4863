// SPDX-License-Identifier: Apache-2.0
#include "algo/rank_sum_correction.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace cairn::algo::rank_sum_correction_test {
namespace {

constexpr double tolerance = 1e-4;

TEST(RankSumCorrection, IsDueRarelyAndNotAfterTheFirstSweep) {
  std::vector<int> due;
  for (int sweep = 0; sweep <= 32; ++sweep) {
    if (rank_sum_correction::due(sweep)) due.push_back(sweep);
  }
  EXPECT_EQ(due, (std::vector<int>{2, 3, 4, 8, 16, 32}));
}

TEST(RankSumCorrection, MakesTheSumsEqual) {
  EXPECT_DOUBLE_EQ(rank_sum_correction().factor(
                       {.expected = 0.9, .found = 0.8, .change = 0.01, .tolerance = tolerance}),
                   0.9 / 0.8);
  EXPECT_DOUBLE_EQ(rank_sum_correction().factor(
                       {.expected = 0.8, .found = 0.9, .change = 0.01, .tolerance = tolerance}),
                   0.8 / 0.9);
}

TEST(RankSumCorrection, LeavesSmallErrorsToTheSweeps) {
  rank_sum_correction correction;
  EXPECT_EQ(
      correction.factor({.expected = 1.01, .found = 1, .change = 0.05, .tolerance = tolerance}),
      1);  // the change is larger
  EXPECT_EQ(correction.factor(
                {.expected = 1 + tolerance / 2, .found = 1, .change = 0, .tolerance = tolerance}),
            1);  // the next sweep is the last
  EXPECT_DOUBLE_EQ(
      correction.factor({.expected = 1.02, .found = 1, .change = 0.05, .tolerance = tolerance}),
      1.02);  // otherwise
}

TEST(RankSumCorrection, EndsOnceACorrectionDidNotHelp) {
  rank_sum_correction correction;
  EXPECT_DOUBLE_EQ(
      correction.factor({.expected = 1.1, .found = 1, .change = 0.01, .tolerance = tolerance}),
      1.1);
  EXPECT_DOUBLE_EQ(
      correction.factor({.expected = 1.04, .found = 1, .change = 0.01, .tolerance = tolerance}),
      1.04);
  EXPECT_EQ(
      correction.factor({.expected = 1.03, .found = 1, .change = 0.01, .tolerance = tolerance}), 1);
  EXPECT_EQ(
      correction.factor({.expected = 1.5, .found = 1, .change = 0.01, .tolerance = tolerance}), 1);
}

TEST(RankSumCorrection, IsNotMadeWithoutRanksThatCameByEdges) {
  EXPECT_EQ(rank_sum_correction().factor(
                {.expected = 0, .found = 0, .change = 0, .tolerance = tolerance}),
            1);
  EXPECT_EQ(rank_sum_correction().factor(
                {.expected = 0.1, .found = 0, .change = 0, .tolerance = tolerance}),
            1);
}

}  // namespace
}  // namespace cairn::algo::rank_sum_correction_test
