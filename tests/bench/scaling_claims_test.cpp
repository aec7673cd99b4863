// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/figures/claims.hpp>

namespace cairn::bench {
namespace {

using nlohmann::json;
using kind = verdict::kind;

json counted(std::vector<int> simulated_messages, double simulated_buffers) {
  return {{"job", "bfs"},           {"real_ranks", 4},
          {"messages", {7, 90, 3}}, {"simulated_messages", simulated_messages},
          {"buffers", 100},         {"simulated_buffers", simulated_buffers}};
}

json setting(const char* name, double measured, double predicted, double mad = 0.01,
             const char* job = "bfs") {
  return {{"job", job},
          {"setting", name},
          {"measured", {{"median", measured}, {"mad", mad}, {"runs", 3}}},
          {"predicted", predicted}};
}

TEST(ScalingClaim, HoldsIfCountsAgreeAndSettingsAreRankedAsMeasured) {
  const auto v = check_scaling(std::vector{counted({7, 90, 3}, 109), setting("a", 1, 5),
                                           setting("b", 2, 6), setting("c", 3, 60),
                                           json{{"ranks", 256}, {"seconds", {{"median", 1}}}}});
  EXPECT_EQ(v.is, kind::holds) << v.why;
  EXPECT_NE(v.why.find("at most 9.0 % off, 3 pairs"), std::string::npos) << v.why;
}

TEST(ScalingClaim, FailsWhereOneOfItsPartsDoes) {
  const auto a = setting("a", 1, 5), b = setting("b", 2, 6);
  EXPECT_EQ(check_scaling(std::vector{counted({7, 91, 3}, 100), a, b}).is, kind::fails);
  EXPECT_EQ(check_scaling(std::vector{counted({7, 90}, 100), a, b}).is, kind::fails);
  EXPECT_EQ(check_scaling(std::vector{counted({7, 90, 3}, 111), a, b}).is, kind::fails);
  EXPECT_EQ(check_scaling(std::vector{counted({7, 90, 3}, 89), a, b}).is, kind::fails);
  const auto v = check_scaling(std::vector{counted({7, 90, 3}, 100), a, setting("b", 2, 4)});
  EXPECT_EQ(v.is, kind::fails);
  EXPECT_NE(v.why.find("bfs: a beats b"), std::string::npos) << v.why;
}

TEST(ScalingClaim, TellsNoSettingsApartThatMayBeEqual) {
  const auto right = counted({7, 90, 3}, 100);
  EXPECT_EQ(check_scaling(std::vector{right, setting("a", 1, 5), setting("b", 1.05, 4)}).is,
            kind::undecided);
  EXPECT_EQ(check_scaling(std::vector{right, setting("a", 1, 5, 0.3), setting("b", 2, 4, 0.3)}).is,
            kind::undecided);
  EXPECT_EQ(
      check_scaling(std::vector{right, setting("a", 1, 5), setting("b", 2, 4, 0.01, "pagerank")})
          .is,
      kind::undecided);
  EXPECT_EQ(check_scaling(std::vector{setting("a", 1, 5), setting("b", 2, 6)}).is, kind::undecided);
  EXPECT_EQ(check_scaling({}).is, kind::undecided);
}

}  // namespace
}  // namespace cairn::bench
