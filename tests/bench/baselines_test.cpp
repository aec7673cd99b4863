// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <bench/baselines/bfs_threads.hpp>
#include <bench/baselines/vertex_program.hpp>

namespace cairn::bench::baselines::baselines_test {
namespace {

constexpr auto unreached = ~std::uint32_t{0};

struct rows {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> targets;
};

rows random_graph(std::uint32_t n, std::size_t edges, std::uint32_t seed) {
  std::mt19937 draw(seed);
  std::vector<std::vector<std::uint32_t>> lists(n);
  for (std::size_t i = 0; i < edges; ++i)
    lists[draw() % n].push_back(static_cast<std::uint32_t>(draw() % n));
  rows g{{0}, {}};
  for (const auto& list : lists) {
    g.targets.insert(g.targets.end(), list.begin(), list.end());
    g.offsets.push_back(g.targets.size());
  }
  return g;
}

std::vector<std::uint32_t> depths(const rows& g, std::uint32_t root) {
  std::vector<std::uint32_t> depth(g.offsets.size() - 1, unreached), queue{root};
  depth[root] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (auto e = g.offsets[queue[i]]; e < g.offsets[queue[i] + 1]; ++e) {
      if (depth[g.targets[e]] != unreached) continue;
      depth[g.targets[e]] = depth[queue[i]] + 1;
      queue.push_back(g.targets[e]);
    }
  }
  return depth;
}

void expect_tree(const rows& g, std::uint32_t root, std::span<const std::uint32_t> parent) {
  const auto depth = depths(g, root);
  ASSERT_EQ(parent.size(), depth.size());
  EXPECT_EQ(parent[root], root);
  for (std::uint32_t v = 0; v < parent.size(); ++v) {
    ASSERT_EQ(parent[v] == unreached, depth[v] == unreached) << v;
    if (v == root || parent[v] == unreached) continue;
    ASSERT_EQ(depth[parent[v]] + 1, depth[v]) << v;
    const auto begin = g.targets.begin() + static_cast<std::ptrdiff_t>(g.offsets[parent[v]]);
    const auto end = g.targets.begin() + static_cast<std::ptrdiff_t>(g.offsets[parent[v] + 1]);
    ASSERT_NE(std::find(begin, end, v), end) << v;
  }
}

TEST(Baselines, SearchesFindShortestPaths) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const auto n = 1 + seed * 37;
    const auto g = random_graph(n, seed % 2 ? n : 6 * n, seed);
    for (const int threads : {1, 2, 3}) {
      bfs_threads by_hand(g.offsets, g.targets, threads);
      expect_tree(g, seed, by_hand.search(seed));
      expect_tree(g, 0, by_hand.search(0));
      expect_tree(g, seed, bfs_vertex_program(g.offsets, g.targets, seed, threads));
    }
  }
}

TEST(Baselines, SearchesFillMoreThanOneBuffer) {
  const auto g = random_graph(20000, 120000, 7);
  expect_tree(g, 3, bfs_threads(g.offsets, g.targets, 2).search(3));
}

}  // namespace
}  // namespace cairn::bench::baselines::baselines_test
