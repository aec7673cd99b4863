// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/memory.hpp>

#include <support/on_ranks.hpp>

namespace cairn::graph::memory_test {
namespace {

TEST(BytesToBuild, CountOffsetsTargetsWeightsAndRowNumbers) {
  const build_size size{.num_vertices = 1000, .num_edges = 5000, .symmetric = true};
  EXPECT_EQ(bytes_to_build(size, 1), 1001u * 8 + 10'000 * (4 + 2));
  auto weighted = size;
  weighted.weight_bytes = 8;
  EXPECT_EQ(bytes_to_build(weighted, 1), 1001u * 8 + 10'000 * (4 + 16 + 2));
  weighted.weight_bytes = 4;
  EXPECT_EQ(bytes_to_build(weighted, 1), 1001u * 8 + 10'000 * (4 + 8 + 2));
  weighted.id_bytes = 8;
  EXPECT_EQ(bytes_to_build(weighted, 1), 1001u * 8 + 10'000 * (8 + 16 + 2));
  auto inverse = size;
  inverse.symmetric = false;
  inverse.inverse = true;
  EXPECT_EQ(bytes_to_build(inverse, 1), 2 * (1001u * 8 + 5000 * 4) + 5000 * 2);
}

TEST(BytesToBuild, CountTheDegreesByWhichRanksAreBalanced) {
  const build_size size{.num_vertices = 80'000, .num_edges = 80, .balanced = true};
  EXPECT_EQ(bytes_to_build(size, 8), 80'000u * 8);
  EXPECT_LT(bytes_to_build(size, 1), 80'100u * 8);
  auto dense = size;
  dense.num_edges = 8'000'000;
  auto unbalanced = dense;
  unbalanced.balanced = false;
  EXPECT_EQ(bytes_to_build(dense, 8), bytes_to_build(unbalanced, 8)) << "not at the same time";
}

TEST(BytesToBuild, ShrinkWithRanksAndSaturate) {
  const build_size huge{.num_vertices = std::uint64_t{1} << 48,
                        .num_edges = std::uint64_t{1} << 63,
                        .id_bytes = 8,
                        .symmetric = true};
  EXPECT_EQ(bytes_to_build(huge, 1), std::numeric_limits<std::uint64_t>::max());
  const build_size size{.num_vertices = 1 << 20, .num_edges = 1 << 24, .symmetric = true};
  EXPECT_LT(bytes_to_build(size, 8), bytes_to_build(size, 2));
}

TEST(MemoryRefusal, IsOneSentenceWithNeedAndSupplyOnEveryRank) {
  cairn::support::on_ranks(3, 1, [](world& w) {
    try {
      expect_memory_for(w, {.num_vertices = std::uint64_t{1} << 40, .num_edges = 1}, "g.gr:1");
      ADD_FAILURE() << "2^43 bytes of offsets and 2^44 of a result found room";
    } catch (const usage_error& e) {
      const std::string sentence = e.what();
      EXPECT_TRUE(sentence.starts_with("g.gr:1: a graph of 1099511627776 vertices")) << sentence;
      EXPECT_NE(sentence.find("needs 26.4 TB of memory"), std::string::npos) << sentence;
      EXPECT_NE(sentence.find("available"), std::string::npos) << sentence;
    }
    expect_memory_for(w, {.num_vertices = 10, .num_edges = 10});
  });
}

}  // namespace
}  // namespace cairn::graph::memory_test
