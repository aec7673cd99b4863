// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/cost_probe.hpp>
#include <cairn/activity/executor.hpp>
#include <cairn/activity/start_values.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::activity::start_values_test {
namespace {

fitted_costs costs_of(std::vector<std::pair<mechanism, cost_model>> models) {
  fitted_costs costs;
  for (const auto& [how, model] : models) costs.of(how) = model;
  return costs;
}

TEST(FittedCosts, AreSetByNameAndWritten) {
  fitted_costs costs;
  EXPECT_EQ(costs.text(), "{}");
  EXPECT_TRUE(costs.set("one-lock_fixed_ns", -95.5));
  EXPECT_TRUE(costs.set("one-lock_per_vertex_ns", 1));
  EXPECT_EQ(costs.of(mechanism::one_lock)->fixed, -95.5);
  EXPECT_FALSE(costs.of(mechanism::htm));
  EXPECT_EQ(costs.text(), R"({"one-lock_per_vertex_ns": 1, "one-lock_fixed_ns": -95.5})");
  for (const auto* const unknown : {"htm", "magic_fixed_ns", "auto_fixed_ns"}) {
    EXPECT_FALSE(costs.set(unknown, 1)) << unknown;
  }
}

TEST(FittedCosts, HaveAFaultUnlessWhatIsComparedIsThereAndRisesWithTheVertices) {
  auto costs = costs_of({{mechanism::atomics, {3, 1}}, {mechanism::locks, {9, 4}}});
  EXPECT_EQ(fault_of(costs), "the costs of stm are missing");
  costs.set("stm_per_vertex_ns", 8);
  EXPECT_EQ(fault_of(costs), "stm_per_vertex_ns or stm_fixed_ns is missing");
  costs.set("stm_fixed_ns", 40);
  EXPECT_EQ(fault_of(costs), "");
  for (const double slope : {-8, 0}) {
    costs.set("stm_per_vertex_ns", slope);
    EXPECT_EQ(fault_of(costs), "stm_per_vertex_ns is not above 0");
  }
}

TEST(FittedCosts, AreOfSmallOperatorsWhereTheseRunOneByOne) {
  const std::vector<cost_sample> bent{{1, 10}, {2, 20}, {4, 40}, {8, 80}, {16, 1000}};
  const auto line = fit_cost(bent);
  const std::vector<mechanism_cost> measured{{mechanism::locks, bent, {}, line},
                                             {mechanism::stm, bent, {}, line}};
  const auto costs = fitted(measured);
  EXPECT_NEAR(costs.of(mechanism::locks)->per_vertex, 10, 1e-9);
  EXPECT_NEAR(costs.of(mechanism::locks)->fixed, 0, 1e-9);
  EXPECT_EQ(costs.of(mechanism::stm)->per_vertex, line.per_vertex);
}

TEST(StartValues, StayAsByRuleWhereNothingIsKnown) {
  const auto start = start_from({});
  EXPECT_EQ(start.htm_grain, start_values{}.htm_grain);
  EXPECT_EQ(start.stm_grain, start_values{}.stm_grain);
  EXPECT_FALSE(start.htm_first);
  EXPECT_FALSE(start.stm_first);
  EXPECT_FALSE(start.fitted) << "what nothing is known of does not cost less";
  EXPECT_FALSE(start_from(costs_of({{mechanism::locks, {9, 4}}})).fitted);
}

TEST(StartValues, TakeTheFlatPartOfTheLine) {
  const auto grain = [](double a, double b) {
    return start_from(costs_of({{mechanism::htm, {a, b}}})).htm_grain;
  };
  EXPECT_EQ(grain(5, 40), 128u);  // 10 * 40 / 5 = 80
  EXPECT_EQ(grain(10, 16), 16u);
  EXPECT_EQ(grain(10, 0), 1u);
  EXPECT_EQ(grain(10, -3), 1u);
  EXPECT_EQ(grain(0.1, 1000), max_grain);
  EXPECT_EQ(grain(0, 1), max_grain);
  EXPECT_EQ(start_from(costs_of({{mechanism::stm, {10, 16}}})).stm_grain, 8u);  // of two vertices
}

TEST(StartValues, BeginWithWhatCostsLess) {
  const auto first = [](double htm, double atomics) {
    return start_from(costs_of({{mechanism::htm, {htm, 10}}, {mechanism::atomics, {atomics, 0}}}))
        .htm_first;
  };
  EXPECT_TRUE(first(2, 4));
  EXPECT_FALSE(first(4, 4));  // a line of the same slope, and more to begin with
  const auto stm = [](double locks) {
    return start_from(costs_of({{mechanism::stm, {12, 6}}, {mechanism::locks, {locks, 0}}}))
        .stm_first;
  };
  EXPECT_TRUE(stm(30));
  EXPECT_FALSE(stm(12));
}

struct add_one {
  struct message {
    std::uint64_t v;
  };
  const pgas::vertex_map<std::uint64_t>& map;
  auto cell(const message& m) const { return map.at(m.v); }
  void attempt(auto x, const message&) const { x.add(1); }
};

struct add_to_two {
  struct message {
    std::uint64_t v;
  };
  const pgas::vertex_map<std::uint64_t>& map;
  void elements(const message& m, auto&& each) const {
    each(map.at(m.v));
    each(map.at(m.v + 1));
  }
  void attempt(auto& tx, const message& m) const {
    for (const auto v : {m.v, m.v + 1}) tx.write(map, v, tx.read(map, v) + 1);
  }
};

TEST(StartValues, AreWhereOperatorsBegin) {
  world w(2);
  pgas::vertex_map<std::uint64_t> map(w, {4, 1}, 0);
  const emulation_options emulate{};
  {
    const executor<add_one> op(
        w, add_one{map},
        {.emulate = emulate, .start = {.htm_grain = 32, .htm_first = true, .fitted = true}});
    EXPECT_EQ(op.chosen_mechanism(), mechanism::htm);
    EXPECT_EQ(op.grain(), 32u);
    EXPECT_EQ(op.why(), "hardware transactions are emulated");
  }
  {
    const executor<add_one> op(w, add_one{map}, {.emulate = emulate, .start = {.fitted = true}});
    EXPECT_EQ(op.chosen_mechanism(), mechanism::atomics);
  }
  if (w.transactions().works) return;  // else several cells do not begin by them
  for (const bool stm : {false, true}) {
    domain data(w, {.start = {.stm_grain = 16, .stm_first = stm, .fitted = true}});
    executor<add_to_two> op(data, add_to_two{map});
    EXPECT_EQ(op.chosen_mechanism(), stm ? mechanism::stm : mechanism::locks);
    EXPECT_EQ(op.grain(), stm ? 16u : 1u);
    EXPECT_NE(data.why().find("by the fitted costs"), std::string::npos) << data.why();
    for (int round = 0; round < 20; ++round) {
      am::epoch all_run(w);
      w.parallel_for(300, [&](worker_t k, std::size_t begin, std::size_t end) {
        op.spawn(k, [&](auto& send) {
          for (auto i = begin; i < end; ++i) send({i % 3});
        });
      });
      all_run.close();
    }
  }
  EXPECT_EQ(map.local()[0] + map.local()[3], 2u * 2u * 2000u);
}

}  // namespace
}  // namespace cairn::activity::start_values_test
