// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/graph/bijection.hpp>

namespace cairn::graph::bijection_test {
namespace {

TEST(Bijection, HitsEveryNumberOnce) {
  for (const std::uint64_t n : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 1000u, 4096u, 4097u, 100'003u}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const bijection f({.size = n, .seed = seed});
      std::vector<bool> hit(n);
      for (std::uint64_t x = 0; x < n; ++x) {
        const auto y = f(x);
        ASSERT_LT(y, n);
        ASSERT_FALSE(hit[y]) << n << ' ' << seed;
        hit[y] = true;
      }
    }
  }
}

TEST(Bijection, DependsOnTheSeed) {
  const bijection f({.size = 100'000, .seed = 1}), g({.size = 100'000, .seed = 2});
  int equal = 0;
  for (std::uint64_t x = 0; x < 100'000; ++x) equal += f(x) == g(x);
  EXPECT_LT(equal, 20);
}

// Hubs of a Kronecker graph have ids with few ones: these must spread evenly over the ranks.
TEST(Bijection, SpreadsIdsWithFewOnesEvenly) {
  constexpr unsigned bits = 20;
  constexpr std::uint64_t n = 1 << bits, parts = 16;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const bijection f({.size = n, .seed = seed});
    std::vector<double> found(parts);
    double all = 0;
    for (std::uint64_t x = 0; x < n; ++x) {
      if (std::popcount(x) > 4) continue;
      ++found[f(x) / (n / parts)];
      ++all;
    }
    for (const auto count : found) {
      EXPECT_NEAR(count, all / parts, 6 * std::sqrt(all / parts)) << "seed " << seed;
    }
  }
}

TEST(Bijection, TheInverseInvertsIt) {
  for (const std::uint64_t n : {1u, 2u, 3u, 7u, 64u, 100u, 1'000u, 4'099u}) {
    const bijection f({.size = n, .seed = n});
    for (std::uint64_t x = 0; x < n; ++x) ASSERT_EQ(f.inverse(f(x)), x) << n;
  }
  const bijection huge({.size = ~std::uint64_t{0} - 5, .seed = 3});
  for (std::uint64_t x = 1; x < 1'000'000'000'000; x = x * 3 + 1) {
    ASSERT_EQ(huge.inverse(huge(x)), x);
  }
}

TEST(Bijection, WorksForHugeRanges) {
  constexpr bijection f({.size = std::uint64_t{1} << 63, .seed = 5});
  static_assert(f(1) < std::uint64_t{1} << 63);
  constexpr bijection g({.size = ~std::uint64_t{0}, .seed = 5});
  static_assert(g(1) != g(2));
}

}  // namespace
}  // namespace cairn::graph::bijection_test
