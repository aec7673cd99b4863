// SPDX-License-Identifier: Apache-2.0
#include <activity/all_settings.hpp>
#include <algorithm>

#include <gtest/gtest.h>

#include <cairn/hw/tm_probe.hpp>

namespace cairn::activity::all_settings_test {
namespace {

bool has_real_htm() {
  return std::ranges::any_of(all_settings(2),
                             [](const setting& s) { return s.name == "real htm"; });
}

TEST(Ways, HaveRealHardwareTransactions) {
  const auto probe = hw::probe_transactions();
  if (!probe.works) {
    EXPECT_FALSE(has_real_htm()) << "htm would run atomics under the name of transactions";
    GTEST_SKIP() << "no test runs real hardware transactions: " << probe.reason;
  }
  EXPECT_TRUE(has_real_htm());
}

}  // namespace
}  // namespace cairn::activity::all_settings_test
