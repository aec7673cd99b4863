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

json fitted(const char* mechanism, double a, double b) {
  return {{"mechanism", mechanism},
          {"fit", {{"per_vertex_ns", a}, {"fixed_ns", b}, {"r_squared", 1}}}};
}

std::vector<json> model(double a_htm, double b_htm, const json& predicted, const json& measured) {
  std::vector<json> all{fitted("atomics", 5, 1), fitted("htm", a_htm, b_htm)};
  all[1]["predicted"] = predicted;
  all[1]["measured"] = measured;
  all.push_back({{"mechanism", "htm"}, {"vertices", 64}, {"seconds", spread(1)}});
  all.push_back(fitted("one-lock", 4, 21));
  all.back()["predicted"] = 20;
  all.back()["measured"] = 16;
  return all;
}

TEST(ModelClaim, HoldsIfTheLinesCrossWhereTheTimesDo) {
  const auto v = check_model(model(1, 41, 10, 12));
  EXPECT_EQ(v.is, kind::holds) << v.why;
  EXPECT_NE(v.why.find("N = 12.0 (measured)"), std::string::npos) << v.why;
}

TEST(ModelClaim, FailsWhereALineOrTheCrossingIsOtherwise) {
  EXPECT_EQ(check_model(model(6, 41, 10, 12)).is, kind::fails) << "A";
  EXPECT_EQ(check_model(model(1, 0.5, 10, 12)).is, kind::fails) << "B";
  EXPECT_EQ(check_model(model(1, 41, 10, 30)).is, kind::fails);
  EXPECT_EQ(check_model(model(1, 41, 30, 10)).is, kind::fails);
  EXPECT_EQ(check_model(model(1, 41, 10, nullptr)).is, kind::fails);
}

TEST(ModelClaim, IsUndecidedByLinesThatDoNotFit) {
  auto all = model(1, 41, 10, 12);
  const auto is = [&](std::size_t which, double r_squared) {
    auto poor = all;
    poor[which]["fit"]["r_squared"] = r_squared;
    return check_model(poor);
  };
  EXPECT_EQ(is(0, 0.9).is, kind::holds);
  EXPECT_EQ(is(0, 0.89).is, kind::undecided) << "atomics, to which the others are compared";
  EXPECT_EQ(is(1, 0.33).is, kind::undecided);
  all.back()["predicted"] = all.back()["measured"] = nullptr;
  EXPECT_EQ(is(3, 1).is, kind::holds);
  EXPECT_EQ(is(3, 0.33).is, kind::undecided) << "nowhere says nothing then";
  EXPECT_NE(is(3, 0.33).why.find("nowhere (predicted, R^2 0.330)"), std::string::npos)
      << is(3, 0.33).why;
  all.back()["measured"] = 5;
  EXPECT_EQ(is(3, 0.33).is, kind::fails) << "and a wrong prediction is wrong";
}

TEST(ModelClaim, SaysWithoutHtmWhereTheOthersCross) {
  std::vector<json> all{fitted("atomics", 5, 1), fitted("one-lock", 1, 13)};
  all[1]["predicted"] = 80;
  all[1]["measured"] = nullptr;
  all.push_back({{"mechanism", "one-lock"}, {"vertices", 64}, {"seconds", spread(1)}});
  all.push_back({{"no_htm", "it is switched off"}});
  const auto v = check_model(all);
  EXPECT_EQ(v.is, kind::undecided);
  EXPECT_NE(v.why.find("switched off"), std::string::npos) << v.why;
  EXPECT_NE(v.why.find("one-lock beats atomics from N = 80.0 (predicted, R^2 1.000), nowhere"),
            std::string::npos)
      << v.why;
  all[1]["predicted"] = 3;
  EXPECT_EQ(check_model(all).is, kind::fails) << "measured beyond 3, and not there";
  all[1]["measured"] = 5;
  EXPECT_EQ(check_model(all).is, kind::undecided);
  EXPECT_EQ(check_model({}).is, kind::undecided);
}

json single(const char* activity, const char* mechanism, int threads, double seconds,
            int aborts = 0) {
  return {{"activity", activity},   {"operations", 10},           {"threads", threads},
          {"mechanism", mechanism}, {"seconds", spread(seconds)}, {"attempts", 100},
          {"aborts", aborts}};
}

std::vector<json> singles(double mark_by_htm, int mark_aborts, int few, int many) {
  return {single("mark", "atomics", 1, 1),          single("mark", "htm", 1, mark_by_htm),
          single("mark", "htm", 2, 3, mark_aborts), single("increment", "htm", 1, 2, few),
          single("increment", "htm", 2, 9, many),   single("increment", "stm", 2, 9, 33),
          single("increment", "aggregator", 2, 1)};
}

TEST(SingleClaim, HoldsIfIncrementsAbortAndMarksAndAggregatorsDoNot) {
  EXPECT_EQ(check_single(singles(2, 1, 0, 60)).is, kind::holds);
}

TEST(SingleClaim, FailsWhereOneOfItsPartsDoes) {
  EXPECT_EQ(check_single(singles(0.9, 1, 0, 60)).is, kind::fails) << "marks by htm are cheap";
  EXPECT_EQ(check_single(singles(2, 10, 0, 60)).is, kind::fails) << "marks abort";
  EXPECT_EQ(check_single(singles(2, 1, 0, 5)).is, kind::fails) << "increments do not";
  EXPECT_EQ(check_single(singles(2, 1, 70, 60)).is, kind::fails) << "nor with the threads";
  auto all = singles(2, 1, 0, 60);
  all.back()["aborts"] = 1;
  EXPECT_EQ(check_single(all).is, kind::fails) << "an aggregator aborts";
}

TEST(SingleClaim, SaysWithoutHtmWhatAggregatorsAndSoftwareTransactionsDo) {
  auto all = singles(2, 1, 0, 60);
  std::erase_if(all, [](const json& p) { return p.at("mechanism") == "htm"; });
  all.push_back({{"no_htm", "it is switched off"}});
  const auto v = check_single(all);
  EXPECT_EQ(v.is, kind::undecided);
  EXPECT_NE(v.why.find("by stm 33.00 % of the attempts on 2 threads abort"), std::string::npos)
      << v.why;
  EXPECT_EQ(v.parts.back().is, kind::holds) << "the aggregator needs no htm";
  EXPECT_EQ(check_single({}).is, kind::undecided);
}

}  // namespace
}  // namespace cairn::bench
