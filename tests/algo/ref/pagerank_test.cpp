// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/ref/pagerank.hpp>

namespace cairn::algo::ref::pagerank_test {
namespace {

constexpr double tiny = 1e-14;

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double off = tiny) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], off) << "vertex " << i;
}

TEST(PagerankJudge, LeavesACycleAsItIs) {
  const pagerank_judge cycle{4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
  expect_near(cycle.after(7), {0.25, 0.25, 0.25, 0.25});
  EXPECT_EQ(cycle.sweeps_until(1e-4, 20), 1u);
  EXPECT_EQ(cycle.sweeps_until(0, 20), 20u);
}

// 0 -> 1, by hand: the sink 1 loses its rank or gives half of it to each.
TEST(PagerankJudge, LosesOrSpreadsWhatSinksHold) {
  const pagerank_judge loses{2, {{0, 1}}, 0.5, false}, spreads{2, {{0, 1}}, 0.5, true};
  expect_near(loses.after(1), {0.25, 0.5});
  expect_near(loses.after(2), {0.25, 0.375});
  expect_near(loses.fixed_point(), {0.25, 0.375});
  expect_near(spreads.after(1), {0.375, 0.625});
  expect_near(spreads.fixed_point(), {0.4, 0.6});
}

// 0 -> 1 twice and 0 -> 2 once; 1 and 2 back to 0.
TEST(PagerankJudge, GivesTwiceAlongADoubleEdge) {
  const pagerank_judge doubled{3, {{0, 1}, {0, 1}, {0, 2}, {1, 0}, {2, 0}}, 0.75};
  expect_near(doubled.after(1), {1 / 12. + 0.5, 1 / 12. + 1 / 6., 1 / 12. + 1 / 12.});
  EXPECT_NEAR(pagerank_judge::distance({1, 2}, {0.5, 4}), 2.5, tiny);
}

}  // namespace
}  // namespace cairn::algo::ref::pagerank_test
