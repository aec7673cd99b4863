// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/distribution.hpp>
#include <cairn/pgas/partition.hpp>

namespace cairn::pgas::distribution_test {
namespace {

constexpr distribution all_distributions[] = {distribution::partition, distribution::local,
                                              distribution::remote, distribution::cyclic,
                                              distribution::hashed};

class Distribution : public ::testing::TestWithParam<distribution> {};
INSTANTIATE_TEST_SUITE_P(All, Distribution, ::testing::ValuesIn(all_distributions));

// Each rank's offsets are 0 .. size - 1, each used once.
TEST_P(Distribution, EveryElementHasAPlaceOfItsOwnAndEveryPlaceAnElement) {
  for (const std::uint64_t n : {0u, 1u, 2u, 7u, 8u, 9u, 63u, 64u, 65u, 1000u, 4099u}) {
    for (const rank_t ranks : {1, 2, 3, 5, 8, 64, 129}) {
      for (const rank_t home : {rank_t{0}, ranks / 2, ranks - 1}) {
        const array_layout a(GetParam(), n, {.home = home, .ranks = ranks});
        std::vector<std::vector<bool>> used;
        std::uint64_t total = 0;
        for (rank_t r = 0; r < ranks; ++r) {
          used.emplace_back(a.size(r));
          total += a.size(r);
        }
        ASSERT_EQ(total, n) << ranks << " ranks";
        for (std::uint64_t i = 0; i < n; ++i) {
          const auto [owner, offset] = a.place(i);
          ASSERT_TRUE(owner >= 0 && owner < ranks);
          ASSERT_LT(offset, a.size(owner)) << "element " << i << " of " << n << ", P = " << ranks;
          auto& mine = used[static_cast<std::size_t>(owner)];
          ASSERT_FALSE(mine[offset]);
          mine[offset] = true;
          ASSERT_EQ(a.element(owner, offset), i);
        }
      }
    }
  }
}

TEST_P(Distribution, HugeArraysAreInvertedToo) {
  random64 random(11);
  for (int round = 0; round < 300; ++round) {
    const auto n = (std::uint64_t{1} << (20 + random.below(43))) + random.below(1000);
    const auto ranks = static_cast<rank_t>(1 + random.below(round % 2 == 0 ? 70'000 : 9));
    const auto home = static_cast<rank_t>(random.below(static_cast<std::uint64_t>(ranks)));
    const array_layout a(GetParam(), n, {.home = home, .ranks = ranks});
    for (int k = 0; k < 50; ++k) {
      const auto i = k == 0 ? n - 1 : random.below(n);
      const auto [owner, offset] = a.place(i);
      ASSERT_TRUE(owner >= 0 && owner < ranks);
      ASSERT_LT(offset, a.size(owner));
      ASSERT_EQ(a.element(owner, offset), i);
    }
  }
}

TEST_P(Distribution, ARunHasConsecutiveOffsetsOfOneRank) {
  for (const rank_t ranks : {1, 2, 3, 8}) {
    const array_layout a(GetParam(), 1001, {.home = ranks / 2, .ranks = ranks});
    for (std::uint64_t i = 0; i < a.n(); ++i) {
      const auto run = a.run(i);
      ASSERT_TRUE(run >= 1 && run <= a.n() - i);
      const auto [owner, offset] = a.place(i);
      for (std::uint64_t k = 0; k < run; ++k) {
        ASSERT_EQ(a.place(i + k), (element_place{owner, offset + k}));
      }
    }
  }
}

// But for `local`, and the home of `remote`, sizes differ by little.
TEST_P(Distribution, SizesAreBalanced) {
  if (GetParam() == distribution::local) return;
  const array_layout a(GetParam(), 100'000, {.home = 3, .ranks = 7});
  for (rank_t r = 0; r < 7; ++r) {
    const bool empty = GetParam() == distribution::remote && r == 3;
    const auto fair = GetParam() == distribution::remote ? 100'000 / 6 : 100'000 / 7;
    if (empty) {
      EXPECT_EQ(a.size(r), 0u);
    } else {
      EXPECT_NEAR(static_cast<double>(a.size(r)), fair, 16);
    }
  }
}

TEST(ArrayLayout, LocalAndRemoteReferToTheHome) {
  const array_layout local(distribution::local, 100, {.home = 2, .ranks = 4}),
      remote(distribution::remote, 90, {.home = 2, .ranks = 4});
  EXPECT_EQ(local.size(2), 100u);
  EXPECT_EQ(local.owner(99), 2);
  EXPECT_EQ(remote.size(2), 0u);
  EXPECT_EQ(remote.owner(0), 0);
  EXPECT_EQ(remote.owner(89), 3);
  const array_layout alone(distribution::remote, 90, {.home = 0, .ranks = 1});
  EXPECT_EQ(alone.size(0), 90u);
}

TEST(ArrayLayout, PartitionAgreesWithPartition) {
  const array_layout a(distribution::partition, 1003, {.home = 0, .ranks = 7});
  const partition p(1003, 7);
  for (std::uint64_t i = 0; i < 1003; ++i) EXPECT_EQ(a.owner(i), p.owner(i));
}

// A stride of a multiple of P elements visits one rank only if cyclic, all ranks if hashed.
TEST(ArrayLayout, HashedSpreadsStrides) {
  constexpr rank_t ranks = 8;
  const array_layout hashed(distribution::hashed, 1 << 20, {.home = 0, .ranks = ranks});
  std::vector<int> visits(ranks);
  for (std::uint64_t i = 0; i < 1 << 20; i += 1024) {
    ++visits[static_cast<std::size_t>(hashed.owner(i))];
  }
  for (const auto v : visits) EXPECT_NEAR(v, 128, 64);
}

TEST(ArrayLayout, RefusesRanksThatDoNotExist) {
  EXPECT_THROW(array_layout(distribution::local, 10, {.home = 2, .ranks = 2}), contract_violation);
  EXPECT_THROW(array_layout(distribution::local, 10, {.home = 0, .ranks = 0}), contract_violation);
  EXPECT_THROW(array_layout(distribution::cyclic, (1ull << 63) + 1, {.home = 0, .ranks = 2}),
               contract_violation);
}

}  // namespace
}  // namespace cairn::pgas::distribution_test
