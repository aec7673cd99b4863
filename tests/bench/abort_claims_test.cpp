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

// Of 1000 attempts; the ratio is the time by rtm by that of hle.
json policy(const char* name, int m, int aborts, int fallbacks, double rtm_ratio = 1) {
  auto point = grain(m, 2, 1, 0);
  point.erase("ratio");
  point["aborts"] = {{"conflict", aborts}, {"capacity", 0}, {"other", 0}, {"explicit", 0}};
  point.update({{"retry", name}, {"fallbacks", fallbacks}, {"rtm_ratio", spread(rtm_ratio)}});
  return point;
}

json by_rtm(json point, int fallbacks) {
  point.update({{"retry", "rtm"}, {"fallbacks", fallbacks}});
  return point;
}

// Policies as the paper has them, at a small M and a large one, and a curve by rtm.
std::vector<json> policies() {
  return {policy("hle", 1, 100, 100, 0.8),     policy("bgq", 1, 100, 0),
          policy("hle", 320, 500, 500, 1.2),   policy("bgq", 320, 550, 50),
          by_rtm(grain(1, 3, 0.6, 1), 0),      by_rtm(grain(32, 1.8, 1.1, 5), 1),
          by_rtm(grain(320, 2.5, 0.8, 90), 20)};
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
  for (const auto& p : policies()) all.push_back(p);
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
    for (const auto& p : policies()) all.push_back(p);
    return check_grain(all);
  };
  EXPECT_EQ(part(layouts(10, 1000)).is, kind::holds);
  EXPECT_EQ(part(layouts(64, 64)).is, kind::fails);
  EXPECT_EQ(part(layouts(1000, 1000)).is, kind::fails);
  const auto v = part(layouts(10, 512));
  EXPECT_NE(v.why.find("10 a page apart, 512 side by side"), std::string::npos) << v.why;
}

verdict::kind without(std::vector<json> all, const char* retry, int m, const json& instead) {
  std::erase_if(all, [&](const json& p) { return p["retry"] == retry && p["grain"] == m; });
  if (!instead.is_null()) all.push_back(instead);
  return check_grain(all).is;
}

TEST(PolicyClaim, FailsWhereAPolicyDoesNotSerialiseAsItShould) {
  const auto all = policies();
  const auto is = [&](const char* retry, int m, int aborts, int fallbacks, double ratio = 1) {
    return without(all, retry, m, policy(retry, m, aborts, fallbacks, ratio));
  };
  EXPECT_EQ(is("hle", 1, 100, 100, 0.8), kind::undecided) << "no layouts, and nothing wrong";
  EXPECT_EQ(is("hle", 1, 100, 60, 0.8), kind::fails) << "it has retried";
  EXPECT_EQ(is("bgq", 320, 500, 50), kind::fails) << "ten retries are eleven aborts";
  EXPECT_EQ(is("bgq", 320, 979, 89), kind::fails) << "more of them serialise than by hle";
  EXPECT_EQ(is("bgq", 1, 880, 80), kind::fails) << "and at M = 1";
  EXPECT_EQ(without(all, "rtm", 320, by_rtm(grain(320, 2.5, 0.8, 900), 200)), kind::fails);
  EXPECT_EQ(is("bgq", 1, 550, 50), kind::fails) << "no more at the largest M";
  EXPECT_EQ(is("hle", 320, 500, 500, 0.9), kind::fails) << "rtm stays the faster";
  EXPECT_EQ(is("hle", 1, 100, 100, 1.2), kind::fails) << "hle is always the faster";
}

TEST(PolicyClaim, IsDecidedByCountsWithoutHtm) {
  auto all = policies();
  for (auto& p : all) {
    for (const auto* const time : {"seconds", "ratio", "rtm_ratio"}) p.erase(time);
    p["emulated"] = true;
  }
  all.push_back({{"threads", 1}, {"no_htm", "it is switched off"}});
  const auto v = check_grain(all);
  EXPECT_EQ(v.is, kind::undecided);
  ASSERT_EQ(v.parts.size(), 5u);
  EXPECT_EQ(v.parts[2].is, kind::holds);
  EXPECT_EQ(v.parts[2].why.find("emulated, with injected aborts"), 0u) << v.why;
  EXPECT_NE(v.parts[2].why.find("M = 1: 0.0 / 0.0 / 10.0 %"), std::string::npos) << v.why;
  EXPECT_EQ(v.parts[3].is, kind::holds);
  EXPECT_NE(v.parts[3].why.find("0.0 % at M = 1, 10.0 % at M = 320"), std::string::npos) << v.why;
  EXPECT_EQ(v.parts[4].is, kind::undecided);
  std::erase_if(all, [](const json& p) { return p.value("retry", "") == "bgq"; });
  EXPECT_EQ(check_grain(all).parts[2].is, kind::undecided);
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
