// SPDX-License-Identifier: Apache-2.0
#include "algo/sort.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
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

}  // namespace
}  // namespace cairn::algo::sort_test
