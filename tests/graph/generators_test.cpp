// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/graph/generators.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::graph::generators_test {
namespace {

using edges_of_graph = std::vector<edge<std::uint64_t>>;

edges_of_graph edges_in(const io::raw_edges& raw) {
  edges_of_graph all;
  for (const auto& block : raw.blocks) {
    std::visit(
        [&](const auto& list) {
          for (const auto& e : list) all.push_back({e.source, e.target});
        },
        block.edges);
  }
  return all;
}

edges_of_graph drawn(const generator& g, int workers = 1, rank_t ranks = 1) {
  const auto pool = task::make_threads({.workers = workers});
  edges_of_graph all;
  for (rank_t r = 0; r < ranks; ++r) {
    const auto raw = generate(*pool, g, {.rank = r, .ranks = ranks});
    EXPECT_FALSE(raw.directed);
    EXPECT_EQ(raw.declared_vertices, size_of(g).num_vertices);
    const auto part = edges_in(raw);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Neighbors of each vertex, once each, ascending.
std::vector<std::vector<std::uint64_t>> lists(const edges_of_graph& edges, std::uint64_t n) {
  std::vector<std::vector<std::uint64_t>> of(n);
  for (const auto& e : edges) {
    of[e.source].push_back(e.target);
    of[e.target].push_back(e.source);
  }
  for (auto& list : of) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return of;
}

std::vector<std::size_t> sorted_degrees(const edges_of_graph& edges, std::uint64_t n) {
  std::vector<std::size_t> degrees;
  for (const auto& list : lists(edges, n)) degrees.push_back(list.size());
  std::sort(degrees.begin(), degrees.end());
  return degrees;
}

const generator small_graphs[] = {
    {.kind = kronecker_graph{.scale = 13, .edge_factor = 18}, .seed = 3},
    {.kind = uniform_graph{.scale = 13, .edge_factor = 20}, .seed = 4},
    {.kind = erdos_renyi_graph{.num_vertices = 3000, .probability = 0.05}, .seed = 5},
    {.kind = grid_graph{.rows = 300, .columns = 501}, .seed = 6}};

TEST(Generators, DrawTheSameGraphWhateverTheNumberOfWorkersAndRanks) {
  for (const auto& g : small_graphs) {
    const auto alone = drawn(g);
    ASSERT_FALSE(alone.empty());
    EXPECT_EQ(drawn(g, 2), alone);
    EXPECT_EQ(drawn(g, 4), alone);
    for (const rank_t ranks : {2, 3, 8}) EXPECT_EQ(drawn(g, 2, ranks), alone);
  }
}

TEST(Generators, DrawAnotherGraphForAnotherSeed) {
  for (auto g : small_graphs) {
    const auto first = drawn(g);
    ++g.seed;
    EXPECT_NE(drawn(g), first);
  }
}

TEST(Generators, DrawNoSelfLoopsAndOnlyVerticesThatExist) {
  for (const auto& g : small_graphs) {
    const auto n = size_of(g).num_vertices;
    for (const auto& e : drawn(g)) {
      ASSERT_NE(e.source, e.target);
      ASSERT_LT(std::max(e.source, e.target), n);
    }
  }
}

TEST(Generators, RelabellingOnlyRenamesVertices) {
  for (auto g : small_graphs) {
    const auto n = size_of(g).num_vertices;
    const auto relabelled = drawn(g);
    g.relabel = false;
    const auto plain = drawn(g);
    EXPECT_NE(plain, relabelled);
    EXPECT_EQ(sorted_degrees(plain, n), sorted_degrees(relabelled, n));
  }
}

// An edge walks from vertex 0's side of a level with 0.76, so the probability of an end at v
// depends on the number of ones in v alone. Neighbors, isolated vertices and loops follow.
TEST(Kronecker, HasTheDegreesThatItsQuadrantsSay) {
  constexpr int scale = 14;
  constexpr double n = 1 << scale, draws = 16 * n;
  const auto at_ones = [](double zero, double one, int ones) {
    return std::pow(zero, scale - ones) * std::pow(one, ones);
  };
  const auto vertices_with = [](int ones) {
    return std::round(std::tgamma(scale + 1) / std::tgamma(ones + 1) /
                      std::tgamma(scale - ones + 1));
  };
  double isolated = 0, loops = 0, hub = 0;
  for (int ones = 0; ones <= scale; ++ones) {
    const auto end = at_ones(0.76, 0.24, ones), loop = at_ones(0.57, 0.05, ones);
    isolated += vertices_with(ones) * std::pow(1 - 2 * (end - loop), draws);
    loops += vertices_with(ones) * loop * draws;
    const auto beside_zero = 2 * at_ones(0.57, 0.19, ones);
    if (ones > 0) hub += vertices_with(ones) * (1 - std::pow(1 - beside_zero, draws));
  }
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const generator g{
        .kind = kronecker_graph{.scale = scale, .edge_factor = 16}, .seed = seed, .relabel = false};
    const auto edges = drawn(g);
    const auto neighbors = lists(edges, 1 << scale);
    const auto alone = std::count_if(neighbors.begin(), neighbors.end(),
                                     [](const auto& list) { return list.empty(); });
    EXPECT_NEAR(static_cast<double>(edges.size()), draws - loops, 5 * std::sqrt(loops));
    EXPECT_NEAR(static_cast<double>(alone), isolated, 5 * std::sqrt(isolated));
    EXPECT_NEAR(static_cast<double>(neighbors[0].size()), hub, 5 * std::sqrt(hub));
    for (const auto& list : neighbors) ASSERT_LE(list.size(), neighbors[0].size());
  }
}

TEST(Uniform, DrawsTheEdgesItWasAskedForButForSelfLoops) {
  constexpr double n = 1 << 13, draws = 20 * n, loops = draws / n;
  const auto edges = drawn({.kind = uniform_graph{.scale = 13, .edge_factor = 20}, .seed = 8});
  EXPECT_NEAR(static_cast<double>(edges.size()), draws - loops, 6 * std::sqrt(loops));
  double max_degree = 0;
  for (const auto& list : lists(edges, 1 << 13))
    max_degree = std::max(max_degree, static_cast<double>(list.size()));
  EXPECT_LT(max_degree, 40 + 7 * std::sqrt(40.0));
}

TEST(ErdosRenyi, HasTheMeanNumberOfEdges) {
  constexpr double pairs = 20'000.0 * 19'999 / 2, p = 0.002;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    auto edges = drawn({.kind = erdos_renyi_graph{20'000, p}, .seed = seed});
    EXPECT_NEAR(static_cast<double>(edges.size()), pairs * p, 5 * std::sqrt(pairs * p * (1 - p)));
    std::sort(edges.begin(), edges.end());
    EXPECT_EQ(std::adjacent_find(edges.begin(), edges.end()), edges.end());
  }
}

TEST(ErdosRenyi, DrawsEveryPairWithItsProbability) {
  constexpr int n = 5, graphs = 20'000;
  constexpr double p = 0.3;
  int found[n][n] = {};
  const auto pool = task::make_threads({.workers = 1});
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const generator g{.kind = erdos_renyi_graph{n, p}, .seed = seed, .relabel = false};
    for (const auto& e : edges_in(generate(*pool, g))) ++found[e.target][e.source];
  }
  for (int u = 0; u < n; ++u) {
    for (int v = 0; v < u; ++v) {
      EXPECT_NEAR(found[v][u], graphs * p, 5 * std::sqrt(graphs * p * (1 - p))) << u << ' ' << v;
      EXPECT_EQ(found[u][v], 0);
    }
  }
}

TEST(ErdosRenyi, IsEmptyForZeroAndCompleteForOne) {
  EXPECT_TRUE(drawn({.kind = erdos_renyi_graph{500, 0.0}}).empty());
  EXPECT_TRUE(drawn({.kind = erdos_renyi_graph{500, -0.0}}).empty());
  EXPECT_TRUE(drawn({.kind = erdos_renyi_graph{500, 1e-300}}).empty());
  EXPECT_TRUE(drawn({.kind = erdos_renyi_graph{1, 1.0}}).empty());
  const auto complete = drawn({.kind = erdos_renyi_graph{500, 1.0}});
  EXPECT_EQ(complete.size(), 500u * 499 / 2);
  for (const auto& list : lists(complete, 500)) ASSERT_EQ(list.size(), 499u);
}

TEST(ErdosRenyi, FindsPairsAtTheEndOfTheLargestRange) {
  const generator g{
      .kind = erdos_renyi_graph{std::uint64_t{1} << 32, 1e-15}, .seed = 1, .relabel = false};
  const auto edges = drawn(g);
  EXPECT_NEAR(static_cast<double>(edges.size()), 0x1p63 * 1e-15, 5 * std::sqrt(0x1p63 * 1e-15));
  for (const auto& e : edges) {
    ASSERT_LT(e.target, e.source);
    ASSERT_LT(e.source, std::uint64_t{1} << 32);
  }
}

TEST(Grid, JoinsFourNeighbors) {
  constexpr std::uint64_t rows = 7, columns = 11;
  const generator g{.kind = grid_graph{rows, columns}, .relabel = false};
  const auto edges = drawn(g);
  EXPECT_EQ(edges.size(), size_of(g).num_edges);
  const auto neighbors = lists(edges, rows * columns);
  for (std::uint64_t v = 0; v < rows * columns; ++v) {
    std::vector<std::uint64_t> expected;
    if (v >= columns) expected.push_back(v - columns);
    if (v % columns != 0) expected.push_back(v - 1);
    if (v % columns != columns - 1) expected.push_back(v + 1);
    if (v + columns < rows * columns) expected.push_back(v + columns);
    EXPECT_EQ(neighbors[v], expected) << v;
  }
  EXPECT_TRUE(drawn({.kind = grid_graph{1, 1}}).empty());
  EXPECT_EQ(drawn({.kind = grid_graph{1, 9}}).size(), 8u);
  EXPECT_EQ(drawn({.kind = grid_graph{9, 1}}).size(), 8u);
}

TEST(Generators, RefuseParametersThatMakeNoGraph) {
  const generator bad[] = {{.kind = kronecker_graph{.scale = 0}},
                           {.kind = kronecker_graph{.scale = 49}},
                           {.kind = kronecker_graph{.scale = 5, .edge_factor = 0}},
                           {.kind = uniform_graph{.scale = -1}},
                           {.kind = erdos_renyi_graph{0, 0.5}},
                           {.kind = erdos_renyi_graph{(std::uint64_t{1} << 32) + 1, 0.5}},
                           {.kind = erdos_renyi_graph{9, -0.1}},
                           {.kind = erdos_renyi_graph{9, 1.5}},
                           {.kind = erdos_renyi_graph{9, std::nan("")}},
                           {.kind = grid_graph{0, 5}},
                           {.kind = grid_graph{std::uint64_t{1} << 40, std::uint64_t{1} << 40}}};
  const auto pool = task::make_threads({.workers = 1});
  for (const auto& g : bad) {
    EXPECT_THROW(static_cast<void>(size_of(g)), usage_error);
    EXPECT_THROW(static_cast<void>(generate(*pool, g)), usage_error);
  }
  try {
    static_cast<void>(size_of({.kind = erdos_renyi_graph{5, 1.0000001}}));
  } catch (const usage_error& e) {
    EXPECT_STREQ(e.what(),
                 "the P of a random graph N:P is 1.0000001, expected a number from 0 to 1");
  }
}

}  // namespace
}  // namespace cairn::graph::generators_test
