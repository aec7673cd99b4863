// SPDX-License-Identifier: Apache-2.0
//
// How often walkers take each edge, against the probabilities of the definition.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/walk.hpp>

#include <support/random_graphs.hpp>
#include <support/walks.hpp>

namespace cairn::algo::walk_transitions_test {
namespace {

using support::counts;
using support::paths_of;
using support::plain_graph;
using support::visits_of_one;
using edges = std::vector<graph::edge<std::uint64_t>>;

/// Hubs with some leaves each. Every leaf has edges to all hubs, so the visits of a leaf, less its
/// starts, are the transitions of one edge.
struct hubs_and_leaves {
  static constexpr std::uint64_t hubs = 4, leaves_of[hubs] = {2, 3, 7, 20};
  plain_graph g{"hubs", hubs, true, {}};
  std::vector<std::vector<std::uint64_t>> leaves;

  /// repeated   of each hub the edge to its first leaf occurs so often
  explicit hubs_and_leaves(int repeated = 1) : leaves(hubs) {
    for (std::uint64_t h = 0; h < hubs; ++h) {
      for (std::uint64_t i = 0; i < leaves_of[h]; ++i) {
        const auto leaf = g.n++;
        leaves[h].push_back(leaf);
        for (int copies = i == 0 ? repeated : 1; copies > 0; --copies) g.edges.push_back({h, leaf});
        for (std::uint64_t to = 0; to < hubs; ++to) g.edges.push_back({leaf, to});
      }
    }
  }
};

double chi_squared(const std::vector<double>& found, const std::vector<double>& weights) {
  const auto total = std::accumulate(found.begin(), found.end(), 0.0);
  const auto all = std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto expected = total * weights[i] / all;
    sum += (found[i] - expected) * (found[i] - expected) / expected;
  }
  return sum;
}

/// The statistic of all transitions if a hub's first leaf has the given weight, others 1.
double statistic(const hubs_and_leaves& graph, double weight_of_first) {
  constexpr walk_options opt{.walkers = 2'000, .length = 60, .key = 11};
  auto arrivals = visits_of_one(graph.g, opt);
  const auto starts = visits_of_one(graph.g, {opt.walkers, 0, opt.key});
  for (std::size_t v = 0; v < arrivals.size(); ++v) arrivals[v] -= starts[v];
  std::vector<double> hubs(arrivals.begin(), arrivals.begin() + hubs_and_leaves::hubs);
  auto sum = chi_squared(hubs, std::vector<double>(hubs.size(), 1));
  for (const auto& leaves : graph.leaves) {
    std::vector<double> found, weights(leaves.size(), 1);
    for (const auto v : leaves) found.push_back(static_cast<double>(arrivals[v]));
    weights[0] = weight_of_first;
    sum += chi_squared(found, weights);
  }
  return sum;
}

// 3 degrees of freedom of the hubs and 1 + 2 + 6 + 19 of the leaves: 31. A sum above 61.1 has
// probability 0.001.
TEST(WalkTransitions, AreUniformAmongTheEdgesOfAVertex) {
  EXPECT_LT(statistic(hubs_and_leaves(), 1), 61.1);
  EXPECT_LT(statistic(hubs_and_leaves(3), 3), 61.1);
}

TEST(WalkTransitions, ThatAreNotUniformFailTheTest) {
  EXPECT_GT(statistic(hubs_and_leaves(2), 1), 61.1);
  EXPECT_GT(statistic(hubs_and_leaves(), 1.2), 61.1);
}

/// Walks on one rank with paths, and the statistic of their second-order transitions if a step
/// follows each weight(t, v, x) in proportion. Degrees of freedom are added to
/// `degrees_of_freedom`.
template <class Weight>
double second_order_statistic(const plain_graph& g, const walk_options& opt, Weight weight,
                              double& degrees_of_freedom) {
  world w;
  const auto r = walk(w, support::share_of<std::uint32_t>(g, 0, 1), opt);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<std::uint64_t, double>> found;
  for (const auto& path : paths_of(w, *r.paths)) {
    for (std::size_t i = 2; i < path.size(); ++i) found[{path[i - 2], path[i - 1]}][path[i]] += 1;
  }
  const auto rows = g.neighbors();
  double sum = 0;
  for (const auto& [edge, to] : found) {
    std::vector<double> times, weights;
    const auto [t, v] = edge;
    for (const auto x : rows[v]) {
      if (!weights.empty() && rows[v][weights.size() - 1] == x) ADD_FAILURE() << "repeated edge";
      times.push_back(to.contains(x) ? to.at(x) : 0);
      weights.push_back(weight(t, x));
    }
    sum += chi_squared(times, weights);
    degrees_of_freedom += static_cast<double>(weights.size()) - 1;
  }
  return sum;
}

/// A graph with triangles and without; each vertex has some of its neighbors' neighbors.
plain_graph braid(std::uint64_t n) {
  plain_graph g{"braid", n, false, {}};
  for (std::uint64_t v = 0; v < n; ++v) {
    for (const std::uint64_t d : {1, 2, 5}) g.edges.push_back({v, (v + d) % n});
  }
  return g;
}

double bias_statistic(double p, double q, double assumed_p, double assumed_q,
                      double& degrees_of_freedom) {
  const auto g = braid(16);
  const auto rows = g.neighbors();
  const auto weight = [&](std::uint64_t t, std::uint64_t x) {
    if (x == t) return 1 / assumed_p;
    return std::ranges::count(rows[t], x) != 0 ? 1.0 : 1 / assumed_q;
  };
  return second_order_statistic(g, {4'000, 40, 13, p, q, true}, weight, degrees_of_freedom);
}

// The statistic has mean f and standard deviation sqrt(2 f) with f degrees of freedom; it is nearly
// normal. More than 3.3 deviations above the mean have probability 0.001 at most.
double critical_value(double degrees_of_freedom) {
  return degrees_of_freedom + 3.3 * std::sqrt(2 * degrees_of_freedom);
}

TEST(WalkTransitions, OfTheSecondOrderFollowTheWeightsOfNode2vec) {
  const double biases[][2] = {{1, 0.25}, {0.25, 1}, {4, 0.5}, {0.5, 4},  {20, 3},
                              {1, 1},    {0.02, 1}, {50, 1},  {1, 0.02}, {1, 50}};
  for (const auto& [p, q] : biases) {
    double degrees_of_freedom = 0;
    const auto found = bias_statistic(p, q, p, q, degrees_of_freedom);
    EXPECT_EQ(degrees_of_freedom, 96 * 5);
    EXPECT_LT(found, critical_value(degrees_of_freedom)) << p << ' ' << q;
  }
}

TEST(WalkTransitions, OfOtherBiasesFailTheTest) {
  const double wrong[][2] = {{1.15, 2}, {0.87, 2}, {1, 2.2}, {1, 1.8}, {2, 1}};
  for (const auto& [p, q] : wrong) {
    double degrees_of_freedom = 0;
    EXPECT_GT(bias_statistic(1, 2, p, q, degrees_of_freedom), critical_value(480)) << p << ' ' << q;
  }
}

// Too few transitions of the rare kinds for a statistic of each vertex.
TEST(WalkTransitions, OfExtremeBiasesAreBackNearAndFarAsOftenAsExpected) {
  const auto g = braid(16);
  const auto rows = g.neighbors();
  const double biases[][2] = {{1e-6, 1},  {1e6, 1},     {1e-300, 1000}, {1e300, 0.001},
                              {1, 0.001}, {1e-6, 1000}, {1e6, 1000},    {1e6, 0.001}};
  for (const auto& [p, q] : biases) {
    const auto kind = [&](std::uint64_t t, std::uint64_t x) -> std::size_t {
      return x == t ? 0 : std::ranges::count(rows[t], x) != 0 ? 1 : 2;
    };
    const double weights[] = {1 / p, 1, 1 / q};
    double found[3] = {}, expected[3] = {}, variance[3] = {};
    world w;
    const auto r = walk(w, support::share_of<std::uint32_t>(g, 0, 1), {2'000, 40, 17, p, q, true});
    for (const auto& path : paths_of(w, *r.paths)) {
      for (std::size_t i = 2; i < path.size(); ++i) {
        const auto t = path[i - 2];
        double of_kind[3] = {};
        for (const auto x : rows[path[i - 1]]) of_kind[kind(t, x)] += weights[kind(t, x)];
        const auto all = of_kind[0] + of_kind[1] + of_kind[2];
        found[kind(t, path[i])] += 1;
        for (std::size_t k = 0; k < 3; ++k) {
          expected[k] += of_kind[k] / all;
          variance[k] += of_kind[k] / all * (1 - of_kind[k] / all);
        }
      }
    }
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_LT(std::abs(found[k] - expected[k]), 4 * std::sqrt(variance[k]) + 3)
          << p << ' ' << q << ", kind " << k;
    }
  }
}

}  // namespace
}  // namespace cairn::algo::walk_transitions_test
