// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/reduce.hpp>
#include <cairn/base/aggregator.hpp>
#include <cairn/base/packing.hpp>

namespace cairn::am::partial_array_test {
namespace {

TEST(PartialArray, StartsFromTheIdentityAndReturnsToIt) {
  partial_array<minimum<std::uint32_t>> minima(50);
  ASSERT_EQ(minima.size(), 50u);
  minima.data()[7] = 3;
  EXPECT_EQ(minima.take(7), 3u);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_TRUE(minima.is_identity(minima.take(i))) << i;
  EXPECT_FALSE(minima.is_identity(3));
}

// A value that cannot be compared.
struct tally {
  std::vector<std::uint32_t> counts;
};
struct add_tallies {
  using value_type = tally;
  static tally identity() { return {}; }
  static tally combine(const tally& a, const tally& b) {
    return {add_vectors<std::uint32_t>::combine(a.counts, b.counts)};
  }
};

}  // namespace
}  // namespace cairn::am::partial_array_test

template <>
struct cairn::packing<cairn::am::partial_array_test::tally> {
  static void pack(std::vector<std::byte>& to, const am::partial_array_test::tally& x) {
    cairn::pack(to, x.counts);
  }
  static am::partial_array_test::tally unpack(std::span<const std::byte>& from) {
    return {cairn::unpack<std::vector<std::uint32_t>>(from)};
  }
};

namespace cairn::am::partial_array_test {
namespace {

TEST(PartialArray, KnowsTheIdentityOfValuesOfAnyKind) {
  EXPECT_TRUE(partial_array<set_union<int>>::is_identity({}));
  EXPECT_FALSE(partial_array<set_union<int>>::is_identity({1}));
  EXPECT_TRUE(partial_array<add_tallies>::is_identity({}));
  EXPECT_FALSE(partial_array<add_tallies>::is_identity({{1, 2}}));
  partial_array<set_union<int>> sets(3);
  combine_into<set_union<int>>(sets.data()[1], std::set{4});
  EXPECT_EQ(sets.take(1), std::set{4});
  EXPECT_EQ(sets.take(1), std::set<int>{});
}

}  // namespace
}  // namespace cairn::am::partial_array_test
