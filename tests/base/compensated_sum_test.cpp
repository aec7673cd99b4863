// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gtest/gtest.h>

#include <cairn/base/compensated_sum.hpp>

namespace cairn::compensated_sum_test {
namespace {

TEST(CompensatedSum, KeepsWhatRoundingTakes) {
  compensated_sum sum;
  for (const double x : {1.0, 1e100, 1.0, -1e100}) sum += x;
  EXPECT_EQ(sum.value(), 2);
}

TEST(CompensatedSum, DoesNotErrMoreWithMoreTerms) {
  constexpr int n = 1 << 20;
  constexpr double x = 1.0 / 3 / n;
  compensated_sum sum, halves[2];
  double plain = 0;
  for (int i = 0; i < n; ++i) sum += x, halves[i % 2] += x, plain += x;
  halves[0] += halves[1];
  EXPECT_NEAR(sum.value(), n * x, 1e-16);  // times a power of two, so exact
  EXPECT_NEAR(halves[0].value(), n * x, 1e-16);
  EXPECT_GT(std::abs(plain - n * x), 1e-16);
}

}  // namespace
}  // namespace cairn::compensated_sum_test
