// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cairn/hw/clock.hpp>

namespace cairn::hw::clock_test {
namespace {

TEST(SteadyClock, AdvancesAndNeverGoesBack) {
  const cairn::hw::steady_clock clock;
  const auto start = clock.now_ns();
  auto last = start;
  while (last == start) {
    const auto now = clock.now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(last, start);
}

}  // namespace
}  // namespace cairn::hw::clock_test
