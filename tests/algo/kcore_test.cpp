// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/kcore.hpp>
#include <cairn/algo/ref/kcore.hpp>
#include <cairn/base/contract.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo::kcore_test {
namespace {

using support::plain_graph;
using cores = std::vector<std::uint32_t>;

cores all_of(world& w, const pgas::vertex_map<std::uint32_t>& core) {
  return w.all_gather_values<std::uint32_t>(core.local());
}

void peel_and_judge(world& w, const plain_graph& g) {
  const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
  const auto r = kcore(w, share);
  auto expected = ref::core_numbers(g.n, g.directed, g.arcs());
  EXPECT_EQ(all_of(w, r.core), expected) << g.name;
  EXPECT_EQ(verify_kcore(w, share, r.core), std::nullopt) << g.name;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(r.largest, expected.back()) << g.name;
  const auto levels = std::unique(expected.begin(), expected.end()) - expected.begin();
  EXPECT_EQ(r.levels, static_cast<std::uint64_t>(levels)) << g.name;
  EXPECT_GE(r.rounds, r.levels) << g.name;
}

class Kcore : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Kcore, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// Long enough for the workers to share a level, and for a superstep to end before its list does.
TEST_P(Kcore, PeelsALongPathFromItsEndsAndARingOfChordsAtOnce) {
  GetParam().run([](world& w) {
    peel_and_judge(w, support::path(3'000));
    plain_graph ring{"ring", 3'000, false, {}};
    for (std::uint64_t v = 0; v < ring.n; ++v) {
      ring.edges.push_back({v, (v + 1) % ring.n});
      ring.edges.push_back({v, (v + 7) % ring.n});
    }
    peel_and_judge(w, ring);
  });
}

TEST_P(Kcore, CountsTheLevelsOfRandomGraphs) {
  GetParam().run([](world& w) {
    for (const std::uint64_t seed : {2, 3, 6}) peel_and_judge(w, support::random_graph(seed));
  });
}

TEST(KcoreOfOne, CountsAnEdgeOnceAndBothDirectionsApart) {
  world w;
  const auto core_of = [&](bool directed, auto edges) {
    const plain_graph g{"", 3, directed, edges};
    return all_of(w, kcore(w, support::share_of<std::uint32_t>(g, 0, 1)).core);
  };
  using edges = std::vector<graph::edge<std::uint64_t>>;
  EXPECT_EQ(core_of(false, edges{{0, 1}, {1, 0}, {0, 1}, {2, 2}}), (cores{1, 1, 0}));
  EXPECT_EQ(core_of(true, edges{{0, 1}, {0, 1}, {2, 2}}), (cores{1, 1, 0}));
  EXPECT_EQ(core_of(true, edges{{0, 1}, {1, 0}, {1, 2}}), (cores{2, 2, 1}));
}

TEST(KcoreOfOne, CountsTheEdgesThatItLooksAt) {
  world w;
  const auto g = support::complete(40);
  static_cast<void>(kcore(w, support::share_of<std::uint32_t>(g, 0, 1)));
  EXPECT_EQ(w.counters().total(obs::counter::edges), 40u * 39);
}

TEST(KcoreOfOne, FollowsAPathWithinASuperstep) {
  world w;
  const auto r = kcore(w, support::share_of<std::uint32_t>(support::path(10'000), 0, 1));
  EXPECT_EQ(r.levels, 1u);
  EXPECT_LT(r.rounds, 100u);
}

TEST(KcoreVerifier, CatchesEveryChangeOfACoreNumber) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      random64 draw(7);
      for (int i = 0; i < 40; ++i) {
        const auto g = support::random_graph(draw());
        const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
        auto core = kcore(w, share).core;
        const auto right = all_of(w, core);
        for (int changes = 1 + static_cast<int>(draw.below(3)); changes > 0; --changes) {
          const auto v = draw.below(g.n);
          const auto x = static_cast<std::uint32_t>(draw.below(6));
          if (core.owns(v)) core.store(v, x);
        }
        const auto changed = all_of(w, core);
        EXPECT_EQ(verify_kcore(w, share, core).has_value(), changed != right) << g.name;
        for (auto& x : core.local()) x = no_vertex<std::uint32_t>;
        EXPECT_TRUE(verify_kcore(w, share, core)) << g.name;
      }
    });
  }
}

TEST(KcoreVerifier, NamesTheLeastVertex) {
  world w;
  const auto share = support::share_of<std::uint32_t>(support::complete(4), 0, 1);
  pgas::vertex_map<std::uint32_t> core(w, share.partition(), 3);
  EXPECT_EQ(verify_kcore(w, share, core), std::nullopt);
  core.store(2, 4);
  EXPECT_EQ(verify_kcore(w, share, core),
            "vertex 2 has core number 4, but only 0 neighbors with a core number of at least 4");
  for (auto& x : core.local()) x = 2;
  EXPECT_EQ(verify_kcore(w, share, core),
            "vertex 0 has core number 2, but belongs to a subgraph with minimum degree at least 3, "
            "in which it has 3 neighbors");
}

// Too large numbers keep their neighbors from being removed, whose numbers may be right.
TEST(KcoreVerifier, BlamesNoneForTheNumbersOfNeighbors) {
  world w;
  const support::plain_graph star{"star", 3, false, {{1, 0}, {0, 2}}};
  const auto share = support::share_of<std::uint32_t>(star, 0, 1);
  pgas::vertex_map<std::uint32_t> core(w, share.partition(), 100);
  core.store(0, 1);
  EXPECT_EQ(
      verify_kcore(w, share, core),
      "vertex 1 has core number 100, but only 0 neighbors with a core number of at least 100");
}

TEST(KcoreContract, DirectedEdgesCountBothWays) {
  world w;
  const auto out =
      support::share_of<std::uint32_t>(support::one_way_path(4), 0, 1, support::in_edges::no);
  EXPECT_THROW(static_cast<void>(kcore(w, out)), contract_violation);
}

}  // namespace
}  // namespace cairn::algo::kcore_test
