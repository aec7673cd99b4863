// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/labels.hpp>

#include <support/on_ranks.hpp>

namespace cairn::graph::labels_test {
namespace {

using pair = std::pair<std::uint64_t, std::uint64_t>;

template <class Id>
io::edge_block block_of(const std::vector<pair>& pairs) {
  std::vector<edge<Id>> edges;
  for (const auto& [u, v] : pairs) edges.push_back({static_cast<Id>(u), static_cast<Id>(v)});
  return {std::move(edges), {}};
}

std::vector<pair> pairs_of(const io::raw_edges& edges) {
  std::vector<pair> all;
  for (const auto& block : edges.blocks) {
    std::visit(
        [&](const auto& list) {
          for (const auto& e : list) all.emplace_back(e.source, e.target);
        },
        block.edges);
  }
  return all;
}

bool all_narrow(const io::raw_edges& edges) {
  for (const auto& block : edges.blocks) {
    if (block.edges.index() != 0) return false;
  }
  return true;
}

/// What a few lines of obvious code say of the same edges.
void expect_numbered(const std::vector<pair>& before, const io::raw_edges& after,
                     const labels& names, const std::set<std::uint64_t>& ids) {
  std::map<std::uint64_t, std::uint64_t> vertex;
  for (const auto id : ids) vertex.emplace(id, vertex.size());
  ASSERT_EQ(names.size(), ids.size());
  for (const auto& [id, v] : vertex) {
    EXPECT_EQ(names.id_of(v), id);
    EXPECT_EQ(names.vertex_of(id), v);
  }
  auto expected = before;
  for (auto& [u, v] : expected) {
    u = vertex.at(u);
    v = vertex.at(v);
  }
  EXPECT_EQ(pairs_of(after), expected);
}

std::set<std::uint64_t> ids_of(const std::vector<pair>& pairs) {
  std::set<std::uint64_t> ids;
  for (const auto& [u, v] : pairs) ids.insert({u, v});
  return ids;
}

void check(const std::vector<std::vector<pair>>& blocks, int workers, bool wide) {
  io::raw_edges edges;
  std::vector<pair> before;
  for (const auto& block : blocks) {
    edges.blocks.push_back(wide ? block_of<std::uint64_t>(block) : block_of<std::uint32_t>(block));
    before.insert(before.end(), block.begin(), block.end());
  }
  world w(workers);
  const auto names = relabel(w, edges);
  EXPECT_TRUE(all_narrow(edges));
  expect_numbered(before, edges, names, ids_of(before));
}

TEST(Labels, IdsWithoutGapsAreTheirOwnVertices) {
  io::raw_edges edges;
  edges.blocks.push_back(block_of<std::uint32_t>({{2, 0}, {1, 1}}));
  world w(1);
  const auto names = relabel(w, edges);
  EXPECT_TRUE(names.identity());
  EXPECT_EQ(names.size(), 3u);
  EXPECT_EQ(names.vertex_of(2), 2u);
  EXPECT_EQ(names.vertex_of(3), std::nullopt);
  EXPECT_EQ(pairs_of(edges), (std::vector<pair>{{2, 0}, {1, 1}}));
}

TEST(Labels, IdsWithGapsAreNumberedInTheirOrder) {
  for (const int workers : {1, 2, 3}) {
    check({{{30, 10}, {20, 30}}, {{5, 40}}}, workers, false);
    check({{{1, 2}}, {}, {{2, 1}}}, workers, true);
    check({{{4'000'000'000u, 7}}, {{9, 4'294'967'294u}}}, workers, false);
    check({{{18446744073709551614u, 0}}, {{1u << 31, 1}}}, workers, true);
  }
}

TEST(Labels, RandomIdsOfEveryDensityAreNumberedInTheirOrder) {
  random64 draw(5);
  for (const int bits : {4, 12, 20, 26, 33, 50, 63}) {
    std::vector<std::vector<pair>> blocks(5);
    for (auto& block : blocks) {
      for (int i = 0; i < 400; ++i) {
        block.emplace_back(draw() >> (64 - bits), draw() >> (64 - bits));
      }
    }
    check(blocks, 2, true);
    if (bits < 32) check(blocks, 2, false);
  }
}

TEST(Labels, IdsInClustersAreNumberedInTheirOrder) {
  std::vector<pair> block;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    block.emplace_back((std::uint64_t{1} << 60) + i, (std::uint64_t{1} << 62) + i * 3);
  }
  check({block}, 2, true);
}

TEST(Labels, ADeclaredNumberOfVerticesKeepsTheIds) {
  world w(2);
  io::raw_edges edges;
  edges.declared_vertices = 10;
  edges.blocks.push_back(block_of<std::uint64_t>({{7, 3}}));
  auto names = relabel(w, edges);
  EXPECT_TRUE(names.identity());
  EXPECT_EQ(names.size(), 10u);
  EXPECT_TRUE(all_narrow(edges));
  EXPECT_EQ(pairs_of(edges), (std::vector<pair>{{7, 3}}));

  edges.declared_vertices = std::uint64_t{1} << 32;
  names = relabel(w, edges);
  EXPECT_EQ(edges.blocks[0].edges.index(), 1u) << "2^32 vertices need 64-bit ids";
  EXPECT_EQ(pairs_of(edges), (std::vector<pair>{{7, 3}}));
}

TEST(Labels, RanksAgreeOnTheVerticesOfAll) {
  for (const int bits : {6, 20, 40}) {
    std::vector<std::vector<pair>> of_rank(3);
    random64 draw(static_cast<std::uint64_t>(bits));
    std::vector<pair> all;
    // The last rank has no edges at all.
    for (int r = 0; r < 2; ++r) {
      for (int i = 0; i < 300; ++i) {
        of_rank[r].emplace_back(draw() >> (64 - bits), draw() >> (64 - bits));
      }
      all.insert(all.end(), of_rank[r].begin(), of_rank[r].end());
    }
    support::on_ranks(3, 2, [&](world& w) {
      const auto& mine = of_rank[static_cast<std::size_t>(w.rank())];
      io::raw_edges edges;
      if (!mine.empty()) edges.blocks.push_back(block_of<std::uint64_t>(mine));
      const auto names = relabel(w, edges);
      EXPECT_TRUE(all_narrow(edges));
      expect_numbered(mine, edges, names, ids_of(all));
    });
  }
}

TEST(Labels, NoEdgesAreNoVertices) {
  world w(1);
  io::raw_edges edges;
  EXPECT_EQ(relabel(w, edges).size(), 0u);
}

TEST(Labels, IdsThatDoNotAscendBreakTheContract) {
  EXPECT_THROW(labels(std::vector<std::uint64_t>{1, 1}), contract_violation);
  EXPECT_THROW(labels(std::vector<std::uint64_t>{2, 1}), contract_violation);
}

}  // namespace
}  // namespace cairn::graph::labels_test
