// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/sieve.hpp>
#include <cairn/base/random.hpp>

namespace cairn::activity::sieve_test {
namespace {

struct message {
  std::uint32_t number;
  double value;
  bool operator==(const message&) const = default;
};

TEST(Sieve, KeepsTheWantedMessagesInOrder) {
  random64 random(1);
  sieve<message> s;
  for (int round = 0; round < 2000; ++round) {
    const auto size = random.below(2 * s.capacity + 1), share = random.below(5);
    std::size_t held = 0;
    std::vector<message> expected;
    for (std::uint64_t i = 0; i < size && held < s.capacity; ++i) {
      const message m{static_cast<std::uint32_t>(random.below(1 << 20)), static_cast<double>(i)};
      const bool wanted = random.below(4) < share;
      if (wanted) expected.push_back(m);
      held = s.add(held, m, wanted);
    }
    const auto kept = s.messages(held);
    ASSERT_EQ(std::vector(kept.begin(), kept.end()), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace cairn::activity::sieve_test
