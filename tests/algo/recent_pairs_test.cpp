// SPDX-License-Identifier: Apache-2.0
#include "algo/recent_pairs.hpp"

#include <cstdint>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>

namespace cairn::algo::recent_pairs_test {
namespace {

TEST(RecentPairs, AreNewTheFirstTimeAndUsuallyKnownAfterwards) {
  for (const std::uint64_t values : {1, 10, 100, 1'000}) {
    recent_pairs<std::uint64_t> recent;
    std::set<std::pair<std::uint64_t, std::uint64_t>> inserted;
    random64 random(values);
    std::uint64_t news = 0;
    for (int i = 0; i < 100'000; ++i) {
      const std::pair pair{random.below(values), random.below(5)};
      const bool is_new = recent.insert(pair);
      EXPECT_TRUE(is_new || inserted.contains(pair));
      inserted.insert(pair);
      news += is_new ? 1 : 0;
    }
    EXPECT_LE(news, 30'000u) << values;
  }
}

}  // namespace
}  // namespace cairn::algo::recent_pairs_test
