// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/figures/claims.hpp>

namespace cairn::bench {
namespace {

using nlohmann::json;
using kind = verdict::kind;

json spread(double median, double mad = 0.01) { return {{"median", median}, {"mad", mad}}; }

json grain(int m, double seconds, double ratio, std::uint64_t conflicts, int threads = 1) {
  return {{"threads", threads},
          {"grain", m},
          {"seconds", spread(seconds)},
          {"ratio", spread(ratio)},
          {"attempts", 1000},
          {"aborts", {{"conflict", conflicts}, {"capacity", 1}, {"other", 0}, {"explicit", 0}}}};
}

json layout(const char* name, int vertices, int capacity) {
  return {{"layout", name},
          {"vertices", vertices},
          {"attempts", 1000},
          {"aborts", {{"conflict", 0}, {"capacity", capacity}, {"other", 0}, {"explicit", 0}}}};
}

// Too many vertices for a transaction: these numbers of them.
std::vector<json> layouts(int strided, int contiguous) {
  std::vector<json> all;
  for (const int n : {1, 10, 64, 512}) {
    all.push_back(layout("strided", n, n >= strided ? 900 : 10));
    all.push_back(layout("contiguous", n, n >= contiguous ? 900 : 10));
  }
  return all;
}

TEST(GrainClaim, HoldsIfTimeFallsAndRisesWithTheAborts) {
  auto all = layouts(10, 512);
  for (const auto& p : {grain(1, 3, 0.6, 1), grain(320, 2.5, 0.8, 90), grain(32, 1.8, 1.1, 5)}) {
    all.push_back(p);
  }
  EXPECT_EQ(check_grain(all).is, kind::holds) << check_grain(all).why;
  EXPECT_NE(check_grain(all).why.find("M = 32"), std::string::npos) << check_grain(all).why;
  EXPECT_NE(check_grain(all).why.find("conflict"), std::string::npos) << check_grain(all).why;
}

TEST(GrainClaim, FailsWhereItsShapeOrItsCauseIsMissing) {
  const std::vector<json> does_not_fall{grain(1, 1.8, 1.1, 1), grain(32, 1.8, 1.1, 5),
                                        grain(320, 2.5, 0.8, 90)};
  const std::vector<json> does_not_rise{grain(1, 3, 0.6, 1), grain(32, 2, 1.05, 5),
                                        grain(320, 1.8, 1.1, 90)};
  const std::vector<json> loses{grain(1, 3, 0.6, 1), grain(32, 1.8, 0.9, 5),
                                grain(320, 2.5, 0.8, 90)};
  const std::vector<json> unexplained{grain(1, 3, 0.6, 1), grain(32, 1.8, 1.1, 5),
                                      grain(320, 2.5, 0.8, 5)};
  EXPECT_EQ(check_grain(does_not_fall).is, kind::fails);
  EXPECT_EQ(check_grain(does_not_rise).is, kind::fails);
  EXPECT_EQ(check_grain(loses).is, kind::fails);
  EXPECT_EQ(check_grain(unexplained).is, kind::fails);
}

TEST(GrainClaim, HoldsOnlyIfItDoesForEachNumberOfThreads) {
  std::vector<json> all{grain(1, 3, 0.6, 1), grain(32, 1.8, 1.1, 5), grain(320, 2.5, 0.8, 90)};
  for (const auto& p :
       {grain(1, 3, 0.6, 1, 2), grain(32, 1.8, 0.9, 5, 2), grain(320, 2.5, 0.8, 90, 2)}) {
    all.push_back(p);
  }
  EXPECT_EQ(check_grain(all).is, kind::fails);
  EXPECT_NE(check_grain(all).why.find("T = 2:"), std::string::npos) << check_grain(all).why;
  EXPECT_EQ(check_grain({}).is, kind::undecided);
}

TEST(GrainClaim, FailsUnlessAssociativityEndsTransactionsFirst) {
  const auto part = [](std::vector<json> all) {
    for (const auto& p : {grain(1, 3, 0.6, 1), grain(32, 1.8, 1.1, 5), grain(320, 2.5, 0.8, 90)}) {
      all.push_back(p);
    }
    return check_grain(all);
  };
  EXPECT_EQ(part(layouts(10, 1000)).is, kind::holds);
  EXPECT_EQ(part(layouts(64, 64)).is, kind::fails);
  EXPECT_EQ(part(layouts(1000, 1000)).is, kind::fails);
  const auto v = part(layouts(10, 512));
  EXPECT_NE(v.why.find("10 a page apart, 512 side by side"), std::string::npos) << v.why;
}

json causes(int threads, int conflict, int capacity) {
  return {
      {"threads", threads},
      {"attempts", 1000},
      {"aborts", {{"conflict", conflict}, {"capacity", capacity}, {"other", 0}, {"explicit", 0}}}};
}

TEST(CausesClaim, HoldsIfTheSameCauseLeadsOnAllNumbersOfThreads) {
  const auto v = check_causes(std::vector{causes(1, 0, 9), causes(2, 50, 9), causes(4, 90, 8)});
  EXPECT_EQ(v.is, kind::holds) << v.why;
  EXPECT_NE(v.why.find("T = 2: 5.00 % conflict, 0.90 % capacity"), std::string::npos) << v.why;
  EXPECT_EQ(check_causes(std::vector{causes(2, 50, 9), causes(4, 5, 8), causes(8, 50, 1)}).is,
            kind::fails);
  EXPECT_EQ(check_causes(std::vector{causes(1, 0, 9)}).is, kind::undecided);
}

}  // namespace
}  // namespace cairn::bench
