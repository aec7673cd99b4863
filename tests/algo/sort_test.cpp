// SPDX-License-Identifier: Apache-2.0
#include "algo/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>

namespace cairn::algo::sort_test {
namespace {

std::vector<std::uint64_t> drawn(std::size_t n) {
  std::vector<std::uint64_t> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = mix64(i) % 1000;
  return all;
}

TEST(SortInterruptibly, SortsWhatIsNotCancelled) {
  world w(2);
  for (const std::size_t n : {0, 1, 2, 1000, 200'000}) {
    auto all = drawn(n), expected = all;
    std::sort(expected.begin(), expected.end());
    sort_interruptibly(w, all, std::less<>());
    EXPECT_EQ(all, expected) << n;
  }
}

TEST(SortInterruptibly, StopsWhenCancelled) {
  world w(2);
  auto all = drawn(200'000);
  w.cancel();
  EXPECT_THROW(sort_interruptibly(w, all, std::less<>()), cancelled);
}

// The comparisons stop soon after cancel(), in the middle of a chunk.
TEST(SortInLoop, SortsOrEndsTheLoop) {
  world w(2);
  auto all = drawn(400'000), expected = all;
  std::sort(expected.begin(), expected.end());
  const auto sort = [&](std::vector<std::uint64_t>& list, auto before) {
    w.parallel_for(1, [&](worker_t k, std::size_t, std::size_t) {
      sort_in_loop(w, k, std::span(list), before);
    });
  };
  auto cancelled_one = all;
  sort(all, std::less<>());
  EXPECT_EQ(all, expected);
  std::uint64_t comparisons = 0;
  const auto count_and_cancel = [&](std::uint64_t a, std::uint64_t b) {
    if (++comparisons == 1000) w.cancel();
    return a < b;
  };
  EXPECT_THROW(sort(cancelled_one, count_and_cancel), cancelled);
  EXPECT_LE(comparisons, 200'000u);
}

}  // namespace
}  // namespace cairn::algo::sort_test
