// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cairn/base/format.hpp>

namespace cairn::format_test {
namespace {

TEST(FormatBytes, HasThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1.00 kB");
  EXPECT_EQ(format_bytes(12'345), "12.3 kB");
  EXPECT_EQ(format_bytes(999'600), "1.00 MB");
  EXPECT_EQ(format_bytes(123'456'789'012), "123 GB");
}

TEST(FormatNumber, IsTheShortestTextOfTheSameNumber) {
  EXPECT_EQ(format_number(2), "2");
  EXPECT_EQ(format_number(0.85), "0.85");
  EXPECT_EQ(format_number(-1e-300), "-1e-300");
}

}  // namespace
}  // namespace cairn::format_test
