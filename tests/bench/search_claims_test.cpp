// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/figures/claims.hpp>

namespace cairn::bench {
namespace {

using nlohmann::json;
using kind = verdict::kind;

json spread(double median, double mad = 0.01) { return {{"median", median}, {"mad", mad}}; }

json graph(int scale, double ratio, double by_hand) {
  return {{"scale", scale},
          {"degree", 16},
          {"ratio", spread(ratio)},
          {"by_hand_ratio", spread(by_hand)}};
}

TEST(GraphsClaim, HoldsIfTransactionsGainAtEveryPoint) {
  EXPECT_EQ(check_graphs(std::vector{graph(16, 1.2, 1), graph(18, 1.3, 2)}).is, kind::holds);
  const auto v = check_graphs(std::vector{graph(16, 1.2, 1), graph(18, 0.9, 2)});
  EXPECT_EQ(v.is, kind::fails);
  EXPECT_NE(v.why.find("scale 18"), std::string::npos) << v.why;
  EXPECT_NE(v.why.find("1.00 to 2.00 times the speed of the search by hand"), std::string::npos)
      << v.why;
  EXPECT_EQ(check_graphs({}).is, kind::undecided);
}

TEST(GraphsClaim, SaysWithoutHtmHowAtomicsCompare) {
  auto without = graph(16, 1, 1.5);
  without.erase("ratio");
  const auto v = check_graphs(std::vector<json>{without, {{"no_htm", "it is switched off"}}});
  EXPECT_EQ(v.is, kind::undecided);
  EXPECT_NE(v.why.find("1.50"), std::string::npos) << v.why;
}

json at(const char* mechanism, int threads, double seconds) {
  return {{"mechanism", mechanism}, {"threads", threads}, {"seconds", spread(seconds)}};
}

TEST(ThreadsClaim, HoldsIfEachMechanismGains) {
  EXPECT_EQ(check_threads(std::vector{at("atomics", 1, 4), at("atomics", 2, 2), at("locks", 1, 6),
                                      at("locks", 2, 5)})
                .is,
            kind::holds);
  const auto v = check_threads(
      std::vector{at("atomics", 1, 4), at("atomics", 2, 2), at("locks", 1, 6), at("locks", 2, 6)});
  EXPECT_EQ(v.is, kind::fails);
  EXPECT_NE(v.why.find("atomics 2.00 times as fast on 2 threads"), std::string::npos) << v.why;
}

TEST(ThreadsClaim, IsUndecidedForOneNumberOfThreads) {
  EXPECT_EQ(check_threads(std::vector{at("atomics", 1, 4)}).is, kind::undecided);
  EXPECT_EQ(check_threads({}).is, kind::undecided);
}

json row(const char* kind_of_graph, double seconds, double ratio, int grain) {
  return {{"graph", "g"},           {"kind", kind_of_graph},      {"seconds", spread(seconds)},
          {"ratio", spread(ratio)}, {"by_hand_ratio", spread(4)}, {"best", "htm, M = 8"},
          {"htm_grain", grain},     {"fixed_ratio", spread(2)},   {"atomics_ratio", spread(1)}};
}

TEST(TableClaim, HoldsIfTheChoiceIsNearlyTheBestAndKindsAgree) {
  std::vector<json> all{row("roads", 0.03, 0.97, 8),
                        row("roads", 0.03, 1, 16),
                        row("webs", 0.03, 1, 128),
                        {{"missing", "com-lj"}}};
  const auto v = check_table(all);
  EXPECT_EQ(v.is, kind::holds) << v.why;
  EXPECT_NE(v.why.find("on the 3 of 3 graphs"), std::string::npos) << v.why;
  EXPECT_NE(v.why.find("by hand: roads 2.00 / 4.00 / 4.06, webs 2.00 / 4.00 / 4.00"),
            std::string::npos)
      << v.why;
  EXPECT_NE(v.why.find("vertex program: roads - / - / -"), std::string::npos) << v.why;
  all[0] = row("roads", 0.001, 0.5, 8);
  EXPECT_EQ(check_table(all).is, kind::holds) << "short runs are compared with atomics alone";
  EXPECT_NE(check_table(all).why.find("on the 2 of 3 graphs"), std::string::npos);
}

TEST(TableClaim, FailsWhereTheChoiceLosesOrAKindIsApart) {
  EXPECT_EQ(check_table(std::vector{row("roads", 0.03, 0.9, 8)}).is, kind::fails);
  EXPECT_EQ(check_table(std::vector{row("roads", 0.03, 1, 8), row("roads", 0.03, 1, 64)}).is,
            kind::fails);
}

TEST(TableClaim, CountsMediansAndDecidesNothingByNoise) {
  const auto is = [](double median, double mad) {
    auto one = row("roads", 0.03, 1, 8);
    one["ratio"] = spread(median, mad);
    return check_table(std::vector<json>{row("webs", 0.03, 1, 8), one});
  };
  EXPECT_EQ(is(0.95, 0.05).is, kind::holds);
  EXPECT_EQ(is(0.94, 0.05).is, kind::fails) << "within 5 % and the spread is not within 5 %";
  EXPECT_EQ(is(1, 0.06).is, kind::undecided);
  EXPECT_EQ(is(0.9, 0.06).is, kind::undecided);
  EXPECT_EQ(is(0.8, 0.06).is, kind::fails) << "lost by more than the spread";
  EXPECT_NE(is(1, 0.06).why.find("1.00 +- 0.06"), std::string::npos) << is(1, 0.06).why;
  auto lost = row("roads", 0.03, 0.9, 8), noisy = row("webs", 0.03, 1, 8);
  noisy["ratio"] = spread(1, 0.2);
  EXPECT_EQ(check_table(std::vector<json>{noisy, lost}).is, kind::fails);
}

TEST(TableClaim, FailsWhereAShortRunIsMuchSlowerThanAtomics) {
  auto slow = row("roads", 0.001, 1, 8);
  slow["atomics_ratio"] = spread(0.85);
  const auto v = check_table(std::vector<json>{slow, row("roads", 0.03, 1, 8)});
  EXPECT_EQ(v.is, kind::fails);
  EXPECT_NE(v.why.find("atomics takes 0.85"), std::string::npos) << v.why;
}

TEST(TableClaim, IsUndecidedWithoutHtmOrLongRunsOrGraphs) {
  const json without{{"no_htm", "off"}};
  const auto said = [&](double seconds) {
    const auto v = check_table(std::vector<json>{row("roads", seconds, 1, 8), without});
    EXPECT_EQ(v.is, kind::undecided);
    return v.why;
  };
  EXPECT_NE(said(0.03).find("within 5 %"), std::string::npos);
  EXPECT_NE(said(0.001).find("no search exceeds 20 ms"), std::string::npos);
  EXPECT_EQ(said(0.001).find("within 5 %"), std::string::npos) << "it was not looked at";
  EXPECT_EQ(check_table(std::vector{row("roads", 0.001, 1, 8)}).is, kind::undecided);
  EXPECT_EQ(check_table(std::vector<json>{{{"missing", "com-lj"}}}).is, kind::undecided);
}

}  // namespace
}  // namespace cairn::bench
