// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cairn/traverse/direction.hpp>

namespace cairn::traverse::direction_test {
namespace {

constexpr std::uint64_t n = 1'000'000;

TEST(Direction, PushesWhatIsSmall) {
  EXPECT_FALSE(pull_is_cheaper({n, 16 * n, 1'000, n}));
  EXPECT_FALSE(pull_is_cheaper({n, 16 * n, 0, n}));
  EXPECT_FALSE(pull_is_cheaper({n, 16 * n, 0, 0}));
  EXPECT_FALSE(pull_is_cheaper({n, 16 * n, n, 0})) << "nobody waits";
}

TEST(Direction, AGraphWithoutEdgesIsPushed) { EXPECT_FALSE(pull_is_cheaper({n, 0, 0, 0})); }

// As in a directed star.
TEST(Direction, PullsTheLeavesOfAHub) { EXPECT_TRUE(pull_is_cheaper({n, n - 1, n - 1, n - 1})); }

TEST(Direction, PullsWhereMostEdgesStartInTheFrontier) {
  EXPECT_TRUE(pull_is_cheaper({n, 16 * n, 12 * n, n / 2}));
}

TEST(Direction, PullsForTheLastFewThatWait) {
  EXPECT_TRUE(pull_is_cheaper({n, 16 * n, n / 2, 100}));
}

// For the same share of edges a pull pays off on a dense graph but not on a sparse graph, whose
// vertices have few in-edges to search.
TEST(Direction, DependsOnTheMeanDegree) {
  const auto tenth_of = [](std::uint64_t edges) {
    return superstep_size{n, edges, edges / 5, n / 2};
  };
  EXPECT_TRUE(pull_is_cheaper(tenth_of(40 * n)));
  EXPECT_FALSE(pull_is_cheaper(tenth_of(2 * n)));
}

}  // namespace
}  // namespace cairn::traverse::direction_test
