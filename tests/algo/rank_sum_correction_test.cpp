// SPDX-License-Identifier: Apache-2.0
#include "algo/rank_sum_correction.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace cairn::algo {
namespace {

constexpr double enough = 1e-4;

TEST(RankSumCorrection, IsDueRarelyAndNotAfterTheFirstSweep) {
  std::vector<int> due;
  for (int sweep = 0; sweep <= 32; ++sweep) {
    if (rank_sum_correction::due(sweep)) due.push_back(sweep);
  }
  EXPECT_EQ(due, (std::vector<int>{2, 3, 4, 8, 16, 32}));
}

TEST(RankSumCorrection, MakesTheSumsEqual) {
  EXPECT_DOUBLE_EQ(rank_sum_correction().factor(0.9, 0.8, 0.01, enough), 0.9 / 0.8);
  EXPECT_DOUBLE_EQ(rank_sum_correction().factor(0.8, 0.9, 0.01, enough), 0.8 / 0.9);
}

TEST(RankSumCorrection, LeavesSmallErrorsToTheSweeps) {
  rank_sum_correction correction;
  EXPECT_EQ(correction.factor(1.01, 1, 0.05, enough), 1);            // the change is larger
  EXPECT_EQ(correction.factor(1 + enough / 2, 1, 0, enough), 1);     // the next sweep is the last
  EXPECT_DOUBLE_EQ(correction.factor(1.02, 1, 0.05, enough), 1.02);  // otherwise
}

TEST(RankSumCorrection, EndsOnceACorrectionDidNotHelp) {
  rank_sum_correction correction;
  EXPECT_DOUBLE_EQ(correction.factor(1.1, 1, 0.01, enough), 1.1);
  EXPECT_DOUBLE_EQ(correction.factor(1.04, 1, 0.01, enough), 1.04);
  EXPECT_EQ(correction.factor(1.03, 1, 0.01, enough), 1);
  EXPECT_EQ(correction.factor(1.5, 1, 0.01, enough), 1);
}

TEST(RankSumCorrection, IsNotMadeWithoutRanksThatCameByEdges) {
  EXPECT_EQ(rank_sum_correction().factor(0, 0, 0, enough), 1);
  EXPECT_EQ(rank_sum_correction().factor(0.1, 0, 0, enough), 1);
}

}  // namespace
}  // namespace cairn::algo
