// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/cost_model.hpp>
#include <cairn/activity/cost_probe.hpp>
#include <cairn/base/contract.hpp>

namespace cairn::activity::cost_model_test {
namespace {

std::vector<cost_sample> samples_of(const cost_model& line, const std::vector<double>& sizes) {
  std::vector<cost_sample> all;
  for (const auto n : sizes) all.push_back({n, line.at(n)});
  return all;
}

TEST(CostModel, FindsTheLineThatTheSamplesLieOn) {
  const auto line = fit_cost(samples_of({.per_vertex = 3.5, .fixed = 40}, {64, 1, 8, 2}));
  EXPECT_NEAR(line.per_vertex, 3.5, 1e-9);
  EXPECT_NEAR(line.fixed, 40, 1e-9);
  EXPECT_NEAR(line.r_squared, 1, 1e-12);
  EXPECT_NEAR(line.at(10), 75, 1e-9);
}

TEST(CostModel, SaysHowMuchOfTheVarianceTheLineLeaves) {
  const std::vector<cost_sample> all{{0, 1}, {1, 1}, {2, 4}, {3, 4}};
  const auto line = fit_cost(all);
  EXPECT_NEAR(line.per_vertex, 1.2, 1e-12);
  EXPECT_NEAR(line.fixed, 0.7, 1e-12);
  EXPECT_NEAR(line.r_squared, 0.8, 1e-12);  // 7.2 of 9
}

TEST(CostModel, ExplainsEqualTimesByAFlatLine) {
  const auto line = fit_cost(samples_of({.per_vertex = 0, .fixed = 7}, {1, 2, 3}));
  EXPECT_EQ(line.per_vertex, 0);
  EXPECT_EQ(line.r_squared, 1);
}

TEST(CostModel, WantsTwoSizes) {
  const std::vector<cost_sample> one_size{{4, 1}, {4, 2}};
  EXPECT_THROW(static_cast<void>(fit_cost(one_size)), contract_violation);
  EXPECT_THROW(static_cast<void>(fit_cost({})), contract_violation);
}

TEST(CostModel, PredictsWhereTheCoarseActivityPaysOff) {
  const cost_model fine{.per_vertex = 5, .fixed = 2}, coarse{.per_vertex = 1, .fixed = 42};
  EXPECT_EQ(predicted_crossing({.fine = fine, .coarse = coarse}), 10.0);
  EXPECT_EQ(predicted_crossing({.fine = coarse, .coarse = fine}), std::nullopt)
      << "in the end it loses";
  const cost_model best{.per_vertex = 1, .fixed = 1};
  EXPECT_EQ(predicted_crossing({.fine = fine, .coarse = best}), 1.0) << "it never loses";
  EXPECT_EQ(predicted_crossing({.fine = fine, .coarse = fine}), std::nullopt) << "it never wins";
}

TEST(CostModel, MeasuresTheCrossingWhereItPredictsIt) {
  const cost_model fine{.per_vertex = 5, .fixed = 2}, coarse{.per_vertex = 1, .fixed = 42};
  const std::vector<double> sizes{1, 4, 8, 16, 32};
  const auto f = samples_of(fine, sizes), c = samples_of(coarse, sizes);
  EXPECT_NEAR(measured_crossing({.fine = f, .coarse = c}).value(), 10, 1e-9);
  EXPECT_EQ(measured_crossing({.fine = c, .coarse = f}), std::nullopt);
  const auto b = samples_of({.per_vertex = 1, .fixed = 1}, sizes);
  EXPECT_EQ(measured_crossing({.fine = f, .coarse = b}), 1.0);
}

TEST(CostModel, CountsACrossingOnlyIfTheCoarseActivityStaysAhead) {
  const std::vector<cost_sample> fine{{1, 10}, {2, 20}, {3, 30}, {4, 40}};
  const std::vector<cost_sample> coarse{{1, 15}, {2, 15}, {3, 35}, {4, 35}};
  EXPECT_EQ(measured_crossing({.fine = fine, .coarse = coarse}), 3.5);
  const std::vector<cost_sample> loses{{1, 5}, {2, 15}, {3, 25}, {4, 45}};
  EXPECT_EQ(measured_crossing({.fine = fine, .coarse = loses}), std::nullopt);
}

TEST(CostModel, ComparesEqualSizesOnly) {
  const std::vector<cost_sample> some{{1, 1}, {2, 2}}, others{{1, 1}, {3, 2}}, down{{2, 1}, {1, 2}};
  EXPECT_THROW(static_cast<void>(measured_crossing({.fine = some, .coarse = others})),
               contract_violation);
  EXPECT_THROW(static_cast<void>(measured_crossing({.fine = down, .coarse = down})),
               contract_violation);
  EXPECT_THROW(static_cast<void>(measured_crossing({.fine = {}, .coarse = {}})),
               contract_violation);
}

TEST(CostProbe, ModifiesEachVertexByEachMechanismThatWorksHere) {
  world w;
  const auto costs = probe_costs(w, {.sizes = {1, 3, 7}, .vertices = 100, .rounds = 2});
  EXPECT_EQ(costs.size(), w.transactions().works ? 6u : 5u);
  EXPECT_EQ(cost_of(costs, mechanism::htm) != nullptr, w.transactions().works);
  for (const auto& c : costs) {
    EXPECT_EQ(c.fault, "") << name(c.mechanism);
    ASSERT_EQ(c.samples.size(), 3u);
    ASSERT_EQ(c.spread_ns.size(), 3u);
    EXPECT_EQ(c.samples[1].vertices, 3);
  }
}

TEST(CostProbe, WantsSizesThatAscendAndFit) {
  world w;
  using sizes = std::vector<std::size_t>;
  for (const auto& wrong :
       {sizes{}, sizes{4}, sizes{0, 1}, sizes{2, 2}, sizes{2, 1}, sizes{1, 9}}) {
    EXPECT_THROW(static_cast<void>(probe_costs(w, {.sizes = wrong, .vertices = 8})),
                 contract_violation);
  }
}

}  // namespace
}  // namespace cairn::activity::cost_model_test
