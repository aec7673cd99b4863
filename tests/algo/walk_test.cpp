// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/ref/walk.hpp>
#include <cairn/algo/walk.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo {
namespace {

using support::plain_graph;
using counts = std::vector<std::uint64_t>;
using edges = std::vector<graph::edge<std::uint64_t>>;

counts all_of(world& w, const pgas::vertex_map<std::uint64_t>& map) {
  return w.all_gather_values<std::uint64_t>(map.local());
}

ref::walk_counts expected_of(const plain_graph& g, const walk_options& opt) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> arcs;
  for (const auto& e : g.edges) {
    arcs.emplace_back(e.source, e.target);
    if (!g.directed && e.source != e.target) arcs.emplace_back(e.target, e.source);
  }
  return ref::random_walks(
      g.n, arcs, opt.walkers, opt.length,
      [&](std::uint64_t walker) { return random64(opt.key, walker); },
      ref::walk_bias{opt.p, opt.q});
}

template <class Id>
std::vector<counts> paths_of(world& w, const walk_paths<Id>& mine) {
  const auto all = w.all_gather_values<Id>(mine.vertices);
  std::vector<counts> paths(all.size() / mine.row_size);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != no_vertex<Id>) paths[i / mine.row_size].push_back(all[i]);
  }
  return paths;
}

template <class Id>
void walk_and_judge(world& w, const plain_graph& g, const walk_options& opt) {
  const auto share = support::share_of<Id>(g, w.rank(), w.size());
  const auto r = walk(w, share, opt);
  const auto expected = expected_of(g, opt);
  const auto told = g.name + ", " + std::to_string(opt.walkers) + " walkers of length " +
                    std::to_string(opt.length) + ", p " + std::to_string(opt.p) + ", q " +
                    std::to_string(opt.q);
  EXPECT_EQ(all_of(w, r.visits), expected.visits) << told;
  EXPECT_EQ(r.steps, expected.steps) << told;
  EXPECT_EQ(r.ended_early, expected.ended_early) << told;
  ASSERT_EQ(r.paths.has_value(), opt.paths);
  if (r.paths) {
    EXPECT_EQ(paths_of(w, *r.paths), expected.paths) << told;
  }
  EXPECT_EQ(verify_walk(w, share, opt, r.visits, walk_totals{r.steps, r.ended_early},
                        r.paths ? &*r.paths : nullptr),
            std::nullopt)
      << told;
}

void walk_at_random(world& w, const plain_graph& g, random64& random) {
  const std::uint64_t lengths[] = {0, 1, random.below(50), 255 + random.below(3)};
  const auto walkers = random.below(3) == 0 ? random.below(3) : random.below(3 * g.n + 1);
  walk_options opt{g.n == 0 ? 0 : walkers, lengths[random.below(4)], random()};
  if (random.below(2) == 0) {
    constexpr double biases[] = {1e-300, 0.05, 0.5, 1, 3, 40, 1e300};
    opt.p = biases[random.below(7)];
    opt.q = biases[1 + random.below(5)];
  }
  opt.paths = random.below(2) == 0;
  if (random.below(2) == 0) {
    walk_and_judge<std::uint32_t>(w, g, opt);
  } else {
    walk_and_judge<std::uint64_t>(w, g, opt);
  }
}

class Walk : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Walk, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(WithAProgressThread, Walk, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

TEST_P(Walk, AgreesWithTheDefinitionOnCornerGraphs) {
  GetParam().run([](world& w) {
    random64 random(1);
    for (const auto& g : support::corner_graphs()) walk_at_random(w, g, random);
  });
}

TEST_P(Walk, AgreesWithTheDefinitionOnRandomGraphs) {
  const int graphs = support::num_random_graphs(GetParam().simulated() ? 60 : 12);
  GetParam().run([&](world& w) {
    random64 random(2);
    for (int i = 0; i < graphs; ++i) walk_at_random(w, support::random_graph(random()), random);
  });
}

// So many that workers share them, and so long that walkers wait on their rank several times.
TEST_P(Walk, OfManyWalkersAndOfManyStepsAgreesWithTheDefinition) {
  GetParam().run([](world& w) {
    walk_and_judge<std::uint32_t>(w, support::grid(20, 30), {2'000, 5, 7});
    walk_and_judge<std::uint64_t>(w, support::grid(5, 7), {40, 1'000, 8});
    walk_and_judge<std::uint32_t>(w, support::complete(30), {1'000, 5, 9, 4, 0.25, true});
    walk_and_judge<std::uint64_t>(w, support::grid(5, 7), {4, 270, 10, 0.5, 1.25});
  });
}

counts visits_of_one(const plain_graph& g, const walk_options& opt) {
  world w;
  return all_of(w, walk(w, support::share_of<std::uint32_t>(g, 0, 1), opt).visits);
}

TEST(WalkOfOne, StopsWithoutOutEdgesAndStaysOnSelfLoops) {
  EXPECT_EQ(visits_of_one({"loop", 1, false, {{0, 0}}}, {3, 4, 1}), (counts{15}));
  EXPECT_EQ(visits_of_one({"no edges", 1, false, {}}, {3, 4, 1}), (counts{3}));
  EXPECT_EQ(visits_of_one(support::complete(4), {0, 4, 1}), (counts{0, 0, 0, 0}));
  EXPECT_EQ(visits_of_one({"empty", 0, false, {}}, {0, 4, 1}), counts());
  world w;
  const plain_graph path{"path", 2, true, {{0, 1}}};
  const auto share = support::share_of<std::uint32_t>(path, 0, 1);
  const auto starts = visits_of_one(path, {100, 0, 5});
  const auto r = walk(w, share, {100, 9, 5});
  EXPECT_EQ(all_of(w, r.visits), (counts{starts[0], 100}));
  EXPECT_EQ(r.steps, starts[0]);
  EXPECT_EQ(r.ended_early, 100u);
  // A walker that has taken all its steps has not ended early.
  EXPECT_EQ(walk(w, share, {100, 1, 5}).ended_early, starts[1]);
}

TEST(WalkOfOne, CountsItsStepsAsEdges) {
  world w;
  const auto share = support::share_of<std::uint32_t>(support::complete(40), 0, 1);
  static_cast<void>(walk(w, share, {10, 300, 1}));
  EXPECT_EQ(w.counters().total(obs::counter::edges), 3'000u);
}

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
/// follows each weight(t, v, x) in proportion. Degrees of freedom are added to `freedom`.
template <class Weight>
double second_order_statistic(const plain_graph& g, const walk_options& opt, Weight weight,
                              double& freedom) {
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
    freedom += static_cast<double>(weights.size()) - 1;
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

double bias_statistic(double p, double q, double assumed_p, double assumed_q, double& freedom) {
  const auto g = braid(16);
  const auto rows = g.neighbors();
  const auto weight = [&](std::uint64_t t, std::uint64_t x) {
    if (x == t) return 1 / assumed_p;
    return std::ranges::count(rows[t], x) != 0 ? 1.0 : 1 / assumed_q;
  };
  return second_order_statistic(g, {4'000, 40, 13, p, q, true}, weight, freedom);
}

// The statistic has mean f and standard deviation sqrt(2 f) with f degrees of freedom; it is nearly
// normal. More than 3.3 deviations above the mean have probability 0.001 at most.
double most_of(double freedom) { return freedom + 3.3 * std::sqrt(2 * freedom); }

TEST(WalkTransitions, OfTheSecondOrderFollowTheWeightsOfNode2vec) {
  const double biases[][2] = {{1, 0.25}, {0.25, 1}, {4, 0.5}, {0.5, 4},  {20, 3},
                              {1, 1},    {0.02, 1}, {50, 1},  {1, 0.02}, {1, 50}};
  for (const auto& [p, q] : biases) {
    double freedom = 0;
    const auto found = bias_statistic(p, q, p, q, freedom);
    EXPECT_EQ(freedom, 96 * 5);
    EXPECT_LT(found, most_of(freedom)) << p << ' ' << q;
  }
}

TEST(WalkTransitions, OfOtherBiasesFailTheTest) {
  const double wrong[][2] = {{1.15, 2}, {0.87, 2}, {1, 2.2}, {1, 1.8}, {2, 1}};
  for (const auto& [p, q] : wrong) {
    double freedom = 0;
    EXPECT_GT(bias_statistic(1, 2, p, q, freedom), most_of(480)) << p << ' ' << q;
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

TEST(WalkOfOne, GoesBackIfAllEdgesLeadBack) {
  const auto path = support::path(2);
  for (const double p : {1e-300, 1e300}) {
    const auto visits = visits_of_one(path, {10, 99, 3, p, most_walk_bias});
    EXPECT_EQ(visits, (counts{500, 500}));
  }
}

TEST(WalkVerifier, CatchesEveryChangedPath) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [](world& w) {
      random64 draw(9);
      for (int i = 0; i < 30; ++i) {
        const auto g = support::random_graph(draw());
        const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
        const walk_options opt{g.n, 6, draw(), 0.5, i % 2 == 0 ? 2.0 : 1.0, true};
        auto r = walk(w, share, opt);
        const walk_totals totals{r.steps, r.ended_early};
        auto& paths = *r.paths;
        const auto wrong = [&] { return verify_walk(w, share, opt, r.visits, totals, &paths); };
        EXPECT_EQ(wrong(), std::nullopt);
        const auto at = draw.below(opt.walkers * paths.row_size);
        const auto first = paths.first * paths.row_size;
        const auto x = draw.below(3) == 0 ? no_vertex<std::uint32_t>
                                          : static_cast<std::uint32_t>(draw.below(g.n));
        bool changed = false;
        if (first <= at && at - first < paths.vertices.size()) {
          changed = std::exchange(paths.vertices[at - first], x) != x;
        }
        EXPECT_EQ(wrong().has_value(), w.any(changed)) << g.name;
      }
    });
  }
}

TEST(WalkVerifier, CatchesEveryChange) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [](world& w) {
      random64 draw(7);
      for (int i = 0; i < 40; ++i) {
        const auto g = support::random_graph(draw());
        const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
        const walk_options opt{g.n / 2, 10, draw(), 0.25, i % 2 == 0 ? 4.0 : 1.0};
        auto r = walk(w, share, opt);
        const auto right = all_of(w, r.visits);
        for (int changes = 1 + static_cast<int>(draw.below(2)); changes > 0; --changes) {
          const auto v = draw.below(g.n), x = draw.below(6);
          if (r.visits.owns(v)) r.visits.store(v, x);
        }
        const bool changed = all_of(w, r.visits) != right;
        EXPECT_EQ(verify_walk(w, share, opt, r.visits).has_value(), changed) << g.name;
        for (auto& x : r.visits.local()) x = no_vertex<std::uint64_t>;
        EXPECT_TRUE(verify_walk(w, share, opt, r.visits)) << g.name;
      }
    });
  }
}

TEST(WalkVerifier, NamesTheSmallestVertexAndTheTotals) {
  world w;
  const auto share = support::share_of<std::uint32_t>({"loop", 1, false, {{0, 0}}}, 0, 1);
  const walk_options opt{3, 4, 1};
  auto r = walk(w, share, opt);
  EXPECT_EQ(verify_walk(w, share, opt, r.visits, walk_totals{12, 0}), std::nullopt);
  EXPECT_EQ(verify_walk(w, share, opt, r.visits, walk_totals{11, 1}),
            "the walkers took 11 steps and 1 ended early, expected 12 and 0");
  r.visits.store(0, 14);
  EXPECT_EQ(verify_walk(w, share, opt, r.visits), "vertex 0 has 14 visits, expected 15");
}

TEST(WalkContract, OptionsAreInTheirRange) {
  world w;
  const auto empty = support::share_of<std::uint32_t>({"empty", 0, false, {}}, 0, 1);
  EXPECT_THROW(static_cast<void>(walk(w, empty, {1, 1, 1})), contract_violation);
  const auto one = support::share_of<std::uint32_t>({"one", 1, false, {}}, 0, 1);
  EXPECT_THROW(static_cast<void>(walk(w, one, {1, std::uint64_t{1} << 32, 1})), contract_violation);
  for (const double x : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(static_cast<void>(walk(w, one, {1, 1, 1, x})), contract_violation);
    EXPECT_THROW(static_cast<void>(walk(w, one, {1, 1, 1, 1, x})), contract_violation);
  }
  EXPECT_THROW(static_cast<void>(walk(w, one, {1, 1, 1, 1, 1'001})), contract_violation);
}

}  // namespace
}  // namespace cairn::algo
