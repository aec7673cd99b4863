// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <bench/harness.hpp>

namespace cairn::bench::harness_test {
namespace {

/// Time passes only where a kernel says so.
struct hand_clock final : hw::clock {
  std::uint64_t now = 5;
  [[nodiscard]] std::uint64_t now_ns() const noexcept override { return now; }
};

struct Harness : testing::Test {
  hand_clock clock;
  std::ostringstream text;
  std::vector<std::string> calls;

  /// Costs[i] is the i-th call's time; the last one stays.
  subject costing(std::string name, std::vector<std::uint64_t> costs_ns, std::string fault = "") {
    kernel<int, int> k;
    k.name = std::move(name);
    k.settings = {{"grain", 16}};
    k.make_input = [this] {
      clock.now += 1'000'000'000;
      calls.push_back("input");
      return 0;
    };
    k.run = [this, costs_ns, name = k.name](int& n) {
      calls.push_back(name);
      const auto i = static_cast<std::size_t>(n++);
      clock.now += costs_ns[std::min(i, costs_ns.size() - 1)];
      return n;
    };
    k.verify = [this, fault](const int& input, const int& output) {
      clock.now += 1'000'000'000;
      calls.push_back("verify");
      return input == output ? fault : "not the output of the last call";
    };
    return subject(std::move(k));
  }

  std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> all;
    std::istringstream in(text.str());
    for (std::string line; std::getline(in, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  }
};

TEST_F(Harness, TimesTheRunAloneAndWarmsUpBefore) {
  harness h(clock, &text, {}, {.warm_ups = 2, .runs = 2, .min_seconds = 1e-6});
  auto s = costing("slow", {9000, 8000, 7000, 2000, 3000});
  const auto m = h.measure(s);
  EXPECT_EQ(m.iterations, 1u);
  ASSERT_EQ(m.seconds.size(), 2u);
  EXPECT_DOUBLE_EQ(m.seconds[0], 2e-6);
  EXPECT_DOUBLE_EQ(m.seconds[1], 3e-6);
  EXPECT_EQ(calls, (std::vector<std::string>{"input", "slow", "slow", "slow", "slow", "verify",
                                             "slow", "verify"}));
}

TEST_F(Harness, RepeatsShortRunsUntilTheyTakeLongEnough) {
  harness h(clock, &text, {}, {.warm_ups = 0, .runs = 3, .min_seconds = 1e-6});
  auto s = costing("short", {10});
  const auto m = h.measure(s);
  EXPECT_GE(m.iterations, 100u);
  EXPECT_LE(m.iterations, 120u);
  for (const auto seconds : m.seconds) EXPECT_NEAR(seconds, 1e-8, 1e-12);
}

TEST_F(Harness, StopsAtTheMostIterationsForAKernelThatTakesNoTime) {
  harness h(clock, &text, {}, {.runs = 1, .min_seconds = 1, .max_iterations = 1000});
  auto s = costing("empty", {0});
  EXPECT_EQ(h.measure(s).iterations, 1000u);
}

TEST_F(Harness, CallsAsOftenAsTheSlowestRankNeeds) {
  run_options options{.warm_ups = 0, .runs = 1, .min_seconds = 1e-6};
  options.agree = [](std::uint64_t mine) { return std::max<std::uint64_t>(mine, 7); };
  harness h(clock, &text, {}, options);
  auto s = costing("one of many", {1000});
  EXPECT_EQ(h.measure(s).iterations, 7u);
}

TEST_F(Harness, WritesALineForEachRun) {
  harness h(clock, &text, {{"commit", "c0ffee"}}, {.runs = 2, .min_seconds = 1e-7});
  kernel<int, int> k;
  k.name = "bfs";
  k.settings = {{"scale", 20}};
  k.item = "edges";
  k.num_items = 5;
  k.make_input = [] { return 0; };
  counter_totals totals{};
  k.run = [&](int&) {
    clock.now += 500;
    ++totals[static_cast<std::size_t>(obs::counter::waves)];
    return 0;
  };
  k.verify = [](const int&, const int&) { return ""; };
  k.counters = [&] { return totals; };
  subject s(std::move(k));
  h.measure(s);
  ASSERT_EQ(lines().size(), 2u);
  const auto line = lines()[1];
  EXPECT_EQ(line["kernel"], "bfs");
  EXPECT_EQ(line["settings"], (nlohmann::json{{"scale", 20}}));
  EXPECT_EQ(line["run"], 2);
  EXPECT_EQ(line["runs"], 2);
  EXPECT_EQ(line["verified"], true);
  EXPECT_EQ(line["commit"], "c0ffee");
  EXPECT_EQ(line["counters"], (nlohmann::json{{"waves", 1}}));
  EXPECT_DOUBLE_EQ(line["seconds"].get<double>(), 500e-9);
  EXPECT_DOUBLE_EQ(line["edges_per_second"].get<double>(), 1e7);
}

TEST_F(Harness, AWrongResultIsWrittenAndThrown) {
  harness h(clock, &text, {}, {.runs = 3, .min_seconds = 0});
  auto s = costing("bfs", {1}, "vertex 3 is lost");
  EXPECT_THROW(h.measure(s), wrong_result);
  ASSERT_EQ(lines().size(), 1u);
  EXPECT_EQ(lines()[0]["verified"], false);
  EXPECT_EQ(lines()[0]["fault"], "vertex 3 is lost");
}

TEST_F(Harness, ComparesInPairsThatFollowEachOther) {
  // The machine slows down; the second stays twice as fast as the first.
  harness h(clock, &text, {}, {.warm_ups = 0, .runs = 3, .min_seconds = 0});
  auto a = costing("a", {1, 100, 200, 400});
  auto b = costing("b", {1, 50, 100, 200});
  const auto c = h.compare(a, b);
  EXPECT_DOUBLE_EQ(c.ratio.median, 2);
  EXPECT_DOUBLE_EQ(c.ratio.mad, 0);
  EXPECT_DOUBLE_EQ(c.first.time.median, 200e-9);
  EXPECT_EQ(calls,
            (std::vector<std::string>{"input", "a", "input", "b", "a", "verify", "b", "verify", "a",
                                      "verify", "b", "verify", "a", "verify", "b", "verify"}));
  EXPECT_EQ(lines().back()["ratio"]["median"], 2.0);
  EXPECT_EQ(lines().back()["comparison"], (nlohmann::json{"a", "b"}));
}

TEST_F(Harness, MeasuresByTurns) {
  harness h(clock, &text, {}, {.warm_ups = 0, .runs = 2, .min_seconds = 0});
  auto a = costing("a", {1, 10, 30});
  auto b = costing("b", {1, 20, 60});
  auto c = costing("c", {1, 40, 90});
  subject* const all[] = {&a, &b, &c};
  const auto found = h.measure_alternating(all);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_DOUBLE_EQ(found[1].time.median, 40e-9);
  EXPECT_DOUBLE_EQ(found[2].time.median, 65e-9);
  std::vector<std::string> names;
  for (const auto& line : lines()) names.push_back(line["kernel"]);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c", "a", "b", "c"}));
}

TEST_F(Harness, TakesTheTimeOfARunThatTimesItself) {
  kernel<int, double> k;
  k.name = "another program";
  k.make_input = [] { return 0; };
  k.run = [this](int&) {
    clock.now += 1'000'000;
    return 0.25;
  };
  k.verify = [](const int&, const double&) { return ""; };
  k.seconds = [](const double& said) { return said; };
  subject s(std::move(k));
  harness h(clock, nullptr, {}, {.runs = 2, .min_seconds = 1});
  const auto m = h.measure(s);
  EXPECT_EQ(m.iterations, 1u);
  EXPECT_EQ(m.seconds, (std::vector<double>{0.25, 0.25}));
}

TEST(Summary, IsTheMedianAndTheMedianDistanceFromIt) {
  const std::vector<double> odd{9, 1, 2, 100, 3}, even{4, 1, 3, 2};
  EXPECT_EQ(summarise(odd).median, 3);
  EXPECT_EQ(summarise(odd).mad, 2);  // 6 2 1 97 0
  EXPECT_EQ(summarise(odd).runs, 5u);
  EXPECT_EQ(summarise(even).median, 2.5);
  EXPECT_EQ(summarise(even).mad, 1);  // 1.5 1.5 0.5 0.5
  EXPECT_EQ(summarise({}).runs, 0u);
}

}  // namespace
}  // namespace cairn::bench::harness_test
