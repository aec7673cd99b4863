// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cairn/hw/tm_probe.hpp>

namespace cairn::hw::tm_probe_test {
namespace {

TEST(TmProbe, AlwaysSaysWhy) {
  const auto probe = cairn::hw::probe_transactions();
  EXPECT_FALSE(probe.reason.empty());
  RecordProperty("reason", probe.reason);
}

TEST(TmProbe, AnswersTheSameTwice) {
  EXPECT_EQ(cairn::hw::probe_transactions().works, cairn::hw::probe_transactions().works);
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
TEST(TmProbe, SaysNoUnderASanitizer) {
  const auto probe = cairn::hw::probe_transactions();
  EXPECT_FALSE(probe.works);
  EXPECT_NE(probe.reason.find("Sanitizer"), std::string::npos);
}
#endif

}  // namespace
}  // namespace cairn::hw::tm_probe_test
