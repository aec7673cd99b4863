// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/ref/bfs.hpp>

namespace cairn::algo::ref::bfs_test {
namespace {

// 0 -> 1 -> 3 -> 4, 0 -> 2 -> 3, 4 -> 0, and 5 -> 0, which nothing reaches.
const edge_list diamond{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 0}, {5, 0}, {3, 3}, {0, 1}};

TEST(BfsJudge, CountsEdgesFromTheRoot) {
  EXPECT_EQ(bfs_depths(6, diamond, 0), (std::vector<std::uint64_t>{0, 1, 1, 2, 3, unreached}));
  EXPECT_EQ(bfs_depths(6, diamond, 3), (std::vector<std::uint64_t>{2, 3, 3, 0, 1, unreached}));
  EXPECT_EQ(bfs_depths(1, {}, 0), (std::vector<std::uint64_t>{0}));
}

TEST(BfsJudge, AcceptsEveryShortestPathTree) {
  EXPECT_EQ(bfs_violation(6, diamond, 0, {0, 0, 0, 1, 3, unreached}), "");
  EXPECT_EQ(bfs_violation(6, diamond, 0, {0, 0, 0, 2, 3, unreached}), "");
}

TEST(BfsJudge, NamesWhatIsWrongWithATree) {
  const auto says = [](const std::vector<std::uint64_t>& parent, const std::string& sentence) {
    EXPECT_EQ(bfs_violation(6, diamond, 0, parent), sentence);
  };
  says({0, 0, 0, 1, 3}, "there is not one parent for each vertex");
  says({unreached, 0, 0, 1, 3, unreached}, "the root is not its own parent");
  says({4, 0, 0, 1, 3, unreached}, "the root is not its own parent");
  says({0, 0, 0, 1, 3, 0}, "vertex 5 has a parent and cannot be reached");
  says({0, 0, unreached, 1, 3, unreached}, "vertex 2 has no parent and can be reached");
  says({0, 0, 0, 3, 3, unreached}, "vertex 3 has a parent that is not one level above it");
  says({0, 0, 0, 1, 2, unreached}, "vertex 4 has a parent that is not one level above it");
  says({0, 0, 0, 1, 5, unreached}, "vertex 4 has a parent that is not one level above it");
  says({0, 0, 0, 1, 6, unreached}, "vertex 4 has a parent that is not one level above it");
  EXPECT_EQ(bfs_violation(5, {{0, 1}, {0, 2}, {1, 3}, {3, 4}}, 0, {0, 0, 0, 2, 3}),
            "vertex 3 has a parent without an edge to it");
}

}  // namespace
}  // namespace cairn::algo::ref::bfs_test
