// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/pgas/partition.hpp>

namespace cairn::pgas::partition_test {
namespace {

TEST(EqualBlocks, BlocksCoverAllElementsOnceInOrder) {
  for (std::uint64_t n : {0u, 1u, 2u, 7u, 8u, 9u, 100u, 1000u}) {
    for (rank_t ranks : {1, 2, 3, 7, 8, 64, 1001}) {
      const partition p(n, ranks);
      std::uint64_t next = 0;
      for (rank_t r = 0; r < ranks; ++r) {
        ASSERT_EQ(p.first(r), next);
        ASSERT_EQ(p.size(r), p.last(r) - p.first(r));
        ASSERT_LE(p.size(r), p.max_block());
        for (; next < p.last(r); ++next) ASSERT_EQ(p.owner(next), r) << n << ' ' << ranks;
      }
      ASSERT_EQ(next, n);
    }
  }
}

void expect_owner_is_quotient(const partition_view& p, std::uint64_t v) {
  ASSERT_EQ(static_cast<std::uint64_t>(p.owner(v)), v / p.max_block()) << p.n() << ' ' << p.ranks();
}

TEST(EqualBlocks, OwnerEqualsDivisionAtBlockEdgesOfHugeRanges) {
  random64 random(7);
  const std::vector<std::uint64_t> sizes = {(1ull << 32) - 1, 1ull << 32, (1ull << 32) + 1,
                                            (1ull << 40) + 3, 1ull << 63, 4'294'967'291u};
  for (auto n : sizes) {
    for (int i = 0; i < 200; ++i) {
      const auto ranks = static_cast<rank_t>(1 + random.below(i % 2 == 0 ? 5000 : 2'000'000'000));
      const partition p(n, ranks);
      for (int k = 0; k < 50; ++k) {
        const auto v = random.below(n);
        expect_owner_is_quotient(p, v);
        const auto r = p.owner(v);
        ASSERT_LE(p.first(r), v);
        ASSERT_LT(v, p.last(r));
        expect_owner_is_quotient(p, p.first(r));
        expect_owner_is_quotient(p, p.last(r) - 1);
      }
      expect_owner_is_quotient(p, n - 1);
    }
  }
}

TEST(EqualBlocks, RanksBeyondTheElementsOwnNothing) {
  const partition p(3, 2'000'000'000);
  EXPECT_EQ(p.size(0), 1u);
  EXPECT_EQ(p.size(2), 1u);
  EXPECT_EQ(p.size(3), 0u);
  EXPECT_EQ(p.last(1'999'999'999), 3u);
}

TEST(EqualBlocks, WorksInConstantExpressions) {
  constexpr partition_view p(10, 3);
  static_assert(p.owner(3) == 0 && p.owner(4) == 1 && p.owner(9) == 2);
  static_assert(p.size(2) == 2);
  EXPECT_TRUE(partition(10, 3) == partition(10, 3) && !(partition(10, 3) == partition(10, 2)));
}

TEST(EqualBlocks, RefusesWhatItCannotCount) {
  EXPECT_THROW(partition(1, 0), contract_violation);
  EXPECT_THROW(partition((1ull << 63) + 1, 1), contract_violation);
}

TEST(ListedBlocks, GiveEachElementToTheRankWhoseBlockHoldsIt) {
  const std::vector<std::uint64_t> sizes{0, 3, 0, 0, 2, 1, 0};
  const auto p = partition::listed(sizes);
  const auto copy = p;
  EXPECT_TRUE(copy == p && !(p == partition(6, 7)) && !p.equal_blocks());
  EXPECT_EQ(p.max_block(), 3u);
  EXPECT_EQ(p.n(), 6u);
  EXPECT_EQ(p.ranks(), 7);
  std::uint64_t next = 0;
  for (rank_t r = 0; r < p.ranks(); ++r) {
    EXPECT_EQ(p.first(r), next);
    EXPECT_EQ(p.size(r), sizes[static_cast<std::size_t>(r)]);
    for (; next < p.last(r); ++next) EXPECT_EQ(p.owner(next), r);
  }
  EXPECT_EQ(next, p.n());
  EXPECT_EQ(partition_view(p).owner(4), 4);
  EXPECT_THROW(static_cast<void>(partition::listed({})), contract_violation);
}

}  // namespace
}  // namespace cairn::pgas::partition_test
