// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/net/packet_steps.hpp>

namespace cairn::net::packet_steps_test {
namespace {

packet_steps random_steps(random64& random) {
  std::vector<std::size_t> largest;
  for (auto n = random.below(5); n > 0; --n) largest.push_back(1 + random.below(1u << 16));
  if (random.below(2) == 0) return packet_steps(largest);
  return packet_steps(largest, {.bytes = 64, .header = 16});
}

TEST(PacketSteps, NoChosenSizeIsJustAboveOne) {
  random64 random(1);
  int naive_above = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto steps = random_steps(random);
    const auto max = 64 + random.below(1u << 16), wanted = 1 + random.below(1u << 17);
    const auto size = steps.choose(wanted, max);
    EXPECT_FALSE(steps.just_above_a_step(size)) << wanted << " of " << max << ": " << size;
    EXPECT_GE(size, 1u);
    EXPECT_LE(size, max);
    naive_above += steps.just_above_a_step(std::min<std::size_t>(wanted, max));
  }
  EXPECT_GT(naive_above, 10'000);
}

TEST(PacketSteps, SlotsAreFilled) {
  const packet_steps lines({}, {.bytes = 64, .header = 16});
  EXPECT_EQ(lines.choose(1, 8192), 48u);
  EXPECT_EQ(lines.choose(144, 8192), 176u);
  EXPECT_EQ(lines.choose(176, 8192), 176u);
  EXPECT_EQ(lines.choose(8192, 8192), 8176u);
  EXPECT_EQ(lines.choose(9000, 8200), 8176u);
  EXPECT_EQ(lines.choose(20, 30), 20u) << "less than a slot";
}

TEST(PacketSteps, ASizeWellAboveAStepStays) {
  const packet_steps steps({4096, 32'000});
  EXPECT_EQ(steps.choose(4096, 65'536), 4096u);
  EXPECT_EQ(steps.choose(4097, 65'536), 4096u);
  EXPECT_EQ(steps.choose(8191, 65'536), 4096u);
  EXPECT_EQ(steps.choose(8192, 65'536), 8192u);
  EXPECT_EQ(steps.choose(32'768, 65'536), 32'000u);
  EXPECT_EQ(steps.choose(64'000, 65'536), 64'000u);
}

}  // namespace
}  // namespace cairn::net::packet_steps_test
