// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/sieve.hpp>
#include <cairn/base/random.hpp>

namespace cairn::activity {
namespace {

struct message {
  std::uint32_t number;
  double value;
  bool operator==(const message&) const = default;
};

std::vector<message> wanted_in(const sieve<message>& s, sieve_content at) {
  std::vector<message> all;
  s.for_each_wanted(at, [&](const message& m) { all.push_back(m); });
  return all;
}

TEST(Sieve, KeepsTheWantedMessagesInOrder) {
  random64 random(1);
  sieve<message> s;
  for (int round = 0; round < 2000; ++round) {
    const auto size = random.below(s.capacity + 1), share = random.below(5);
    sieve_content at;
    std::vector<message> expected;
    for (std::uint64_t i = 0; i < size; ++i) {
      ASSERT_FALSE(at.full());
      const message m{static_cast<std::uint32_t>(random.below(1 << 20)), static_cast<double>(i)};
      const bool wanted = random.below(4) < share;
      if (wanted) expected.push_back(m);
      at = s.add(at, m, wanted);
    }
    ASSERT_EQ(at.full(), size == s.capacity);
    ASSERT_EQ(wanted_in(s, at), expected) << size << " messages, round " << round;
  }
}

}  // namespace
}  // namespace cairn::activity
