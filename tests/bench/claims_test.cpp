// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/figures/claims.hpp>

namespace cairn::bench {
namespace {

using nlohmann::json;
using kind = verdict::kind;

json spread(double median, double mad = 0.01) { return {{"median", median}, {"mad", mad}}; }

json level(int number, double atomics, double ratio, double mad = 0.01) {
  return {{"threads", 1},
          {"level", number},
          {"atomics", spread(atomics)},
          {"htm", spread(atomics / ratio)},
          {"ratio", spread(ratio, mad)}};
}

json grain(int m, double seconds, double ratio, std::uint64_t conflicts, int threads = 1) {
  return {{"threads", threads},
          {"grain", m},
          {"seconds", spread(seconds)},
          {"ratio", spread(ratio)},
          {"attempts", 1000},
          {"aborts", {{"conflict", conflicts}, {"capacity", 1}, {"other", 0}, {"explicit", 0}}}};
}

json scenario(int transactions, int remote, double seconds, int commits_short_of = 0) {
  return {{"transactions", transactions},
          {"local", 4 + remote},
          {"remote", remote},
          {"seconds", spread(seconds)},
          {"expected", 2 * transactions},
          {"commits", 2 * transactions - commits_short_of},
          {"restarts", 7 * transactions}};
}

TEST(DistributedClaim, HoldsIfRemoteElementsCost) {
  const std::vector<json> all{scenario(1000, 1, 1), scenario(10'000, 1, 9), scenario(1000, 3, 2),
                              scenario(10'000, 3, 20)};
  EXPECT_EQ(check_distributed(all).is, kind::holds) << check_distributed(all).why;
  EXPECT_NE(check_distributed(all).why.find("7000 restarts"), std::string::npos);
  EXPECT_EQ(check_distributed(std::span(all).first(3)).is, kind::undecided);
}

TEST(DistributedClaim, FailsIfTheyDoNotOrATransactionIsLost) {
  const std::vector<json> flat{scenario(1000, 1, 1), scenario(10'000, 1, 9), scenario(1000, 3, 2),
                               scenario(10'000, 3, 9)};
  const std::vector<json> lost{scenario(1000, 1, 1), scenario(10'000, 1, 9), scenario(1000, 3, 2),
                               scenario(10'000, 3, 20, 1)};
  const std::vector<json> free{scenario(1000, 1, 1), scenario(10'000, 1, 1), scenario(1000, 3, 2),
                               scenario(10'000, 3, 20)};
  EXPECT_EQ(check_distributed(flat).is, kind::fails);
  EXPECT_EQ(check_distributed(lost).is, kind::fails);
  EXPECT_EQ(check_distributed(free).is, kind::fails);
}

TEST(PhasesClaim, HoldsIfEachHeavyMiddleLevelGainsWhateverTheLightOnesDo) {
  const std::vector<json> all{level(0, 0.1, 0.5), level(1, 3, 1.1), level(2, 5, 1.2),
                              level(3, 0.5, 0.8), level(4, 0.1, 0.7)};
  EXPECT_EQ(check_phases(all).is, kind::holds) << check_phases(all).why;
}

TEST(PhasesClaim, FailsIfAHeavyLevelDoesNotGain) {
  const std::vector<json> all{level(0, 0.1, 1), level(1, 3, 1.1), level(2, 5, 0.9),
                              level(3, 0.1, 1)};
  EXPECT_EQ(check_phases(all).is, kind::fails);
  EXPECT_NE(check_phases(all).why.find("level 2"), std::string::npos) << check_phases(all).why;
}

TEST(PhasesClaim, FailsIfAGainIsLostInTheSpread) {
  const std::vector<json> all{level(0, 0.1, 1), level(1, 5, 1.1, 0.2), level(2, 0.1, 1)};
  EXPECT_EQ(check_phases(all).is, kind::fails);
}

TEST(PhasesClaim, IsUndecidedWithoutAHeavyMiddleLevel) {
  const std::vector<json> all{level(0, 5, 1.2), level(1, 0.1, 1.2), level(2, 5, 1.2)};
  EXPECT_EQ(check_phases(all).is, kind::undecided);
}

TEST(GrainClaim, HoldsIfTimeFallsAndRisesWithTheAborts) {
  const std::vector<json> all{grain(1, 3, 0.6, 1), grain(320, 2.5, 0.8, 90),
                              grain(32, 1.8, 1.1, 5)};
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
  EXPECT_EQ(check_grain(all).why.substr(0, 6), "T = 2:");
}

TEST(Claims, AreUndecidedWithoutHardwareTransactionsAndSayWhy) {
  const std::vector<json> none(1, json{{"no_htm", "they are switched off"}});
  EXPECT_EQ(check_phases(none).is, kind::undecided);
  EXPECT_EQ(check_grain(none).is, kind::undecided);
  EXPECT_EQ(check_grain(none).why, "they are switched off");
  EXPECT_EQ(check_grain({}).is, kind::undecided);
}

TEST(Claims, AreCheckedOnTheLastWholeSweepOfTheRecord) {
  std::istringstream lines(
      R"({"figure": "a", "grain": 1}
{"figure": "a", "verdict": "holds"}
{"figure": "b", "grain": 2}
{"kernel": "bfs"}
{"figure": "a", "grain": 3}
{"figure": "a", "grain": 4}
{"figure": "a", "verdict": "holds"}
{"figure": "a", "grain": 5}
)");
  const auto last = last_sweep(lines, "a");
  ASSERT_EQ(last.size(), 2u);
  EXPECT_EQ(last[0]["grain"], 3);
  EXPECT_EQ(last[1]["grain"], 4);
  std::istringstream nothing(R"({"figure": "a", "grain": 1})");
  EXPECT_THROW(static_cast<void>(last_sweep(nothing, "a")), std::runtime_error);
}

}  // namespace
}  // namespace cairn::bench
