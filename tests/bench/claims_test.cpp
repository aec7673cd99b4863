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

TEST(Claims, AreUndecidedWithoutHardwareTransactionsAndSayWhy) {
  const std::vector<json> none(1, json{{"no_htm", "they are switched off"}});
  EXPECT_EQ(check_phases({}).is, kind::undecided);
  for (const auto check : {check_grain, check_causes, check_phases}) {
    const auto v = check(none);
    EXPECT_EQ(v.is, kind::undecided);
    EXPECT_NE(v.why.find("they are switched off"), std::string::npos) << v.why;
  }
  std::vector<json> by_atomics{level(0, 1, 1), level(1, 8, 1), level(2, 1, 1), none.front()};
  const auto v = check_phases(by_atomics);
  EXPECT_NE(v.why.find("level 1 takes 80 % of the time"), std::string::npos) << v.why;
}

TEST(Claims, OfSeveralPartsAreWrittenWithEach) {
  const verdict v{kind::fails, "why", {{"a", kind::holds, "b"}, {"c", kind::fails, "d"}}};
  EXPECT_EQ(json_of(v), json::parse(R"({"verdict": "does not hold", "why": "why", "parts": [
      {"claim": "a", "verdict": "holds", "why": "b"},
      {"claim": "c", "verdict": "does not hold", "why": "d"}]})"));
  EXPECT_EQ(json_of(verdict{kind::holds, "why"}).count("parts"), 0u);
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
