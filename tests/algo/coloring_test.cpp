// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/coloring.hpp>
#include <cairn/algo/ref/coloring.hpp>
#include <cairn/base/contract.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

#include "algo/wrong_fact.hpp"

namespace cairn::algo::coloring_test {
namespace {

using support::plain_graph;

coloring_result color_and_judge(world& w, const plain_graph& g) {
  const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
  auto r = coloring(w, share);
  const auto all = w.all_gather_values<std::uint32_t>(r.color.local());
  EXPECT_EQ(ref::coloring_violation(g.n, g.arcs(), all), "") << g.name;
  EXPECT_EQ(verify_coloring(w, share, r.color), std::nullopt) << g.name;
  std::uint32_t max_color = 0;
  for (const auto c : all) max_color = std::max(max_color, c);
  EXPECT_EQ(r.num_colors, max_color + 1) << g.name;
  EXPECT_EQ(r.rounds == 1, r.conflicts == 0);
  return r;
}

class Coloring : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Coloring, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// A complete graph dealt to machines is all conflicts: every rank begins with color 0. Ranks of one
// machine see each other's colors at once.
TEST_P(Coloring, ConflictsBetweenRanksAreFoundAndSettled) {
  GetParam().run(
      [](world& w) {
        color_and_judge(w, support::grid(5, 9));
        const auto r = color_and_judge(w, support::complete(40));
        EXPECT_EQ(r.num_colors, 40u);
        if (w.machines().count() > 1) {
          EXPECT_GT(r.conflicts, 0u);
        }
        if (w.size() == 1 && w.workers() == 1) {
          EXPECT_EQ(r.conflicts, 0u);
        }
      },
      {.coalesce_bytes = 32, .coalesce_age_ns = 0, .pending_bytes = 100});
}

// Of the vertices that take the same color on 32 ranks only one keeps it.
TEST(ColoringRounds, DoNotGrowWithRanksOnDenseGraphs) {
  support::on_simulated_ranks(32, 1, 1, [](world& w) {
    const auto r = color_and_judge(w, support::complete(320));
    EXPECT_EQ(r.num_colors, 320u);
    EXPECT_LE(r.rounds, 48u);
  });
}

// Most vertices see the colors of their neighbors of other ranks although all begin at once.
TEST(ColoringRounds, LearnColorsOfOtherRanksMeanwhile) {
  constexpr std::uint64_t n = 16'384;
  plain_graph g{"random edges", n, false, {}};
  random64 random(1);
  for (std::uint64_t i = 0; i < 4 * n; ++i) g.edges.push_back({random.below(n), random.below(n)});
  support::on_simulated_ranks(2, 1, 1, [&](world& w) {
    const auto r = color_and_judge(w, g);
    EXPECT_GT(r.conflicts, 0u);
    EXPECT_LT(r.conflicts, n / 10);
  });
}

TEST(ColoringVerifier, CatchesWrongColors) {
  const auto g = support::grid(5, 9);
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
      auto r = coloring(w, share);
      const auto change = [&](std::uint64_t v, std::uint32_t to) {
        const bool mine = r.color.owns(v);
        const auto was = mine ? r.color.load(v) : 0;
        if (mine) r.color.store(v, to);
        const auto said = verify_coloring(w, share, r.color);
        if (mine) r.color.store(v, was);
        return said.value_or("");
      };
      const auto all = w.all_gather_values<std::uint32_t>(r.color.local());
      EXPECT_EQ(change(0, all[1]),
                "vertices 0 and 1 are joined and both have color " + std::to_string(all[1]));
      EXPECT_EQ(change(44, 5), "vertex 44 has color 5, expected at most the largest degree, 4");
      EXPECT_NE(change(0, no_vertex<std::uint32_t>), "");
      EXPECT_EQ(change(3, all[3]), "");
    });
  }
}

TEST_P(Coloring, ANumberOfColorsThatIsWrongIsFound) {
  GetParam().run([](world& w) {
    const auto g = support::share_of<std::uint32_t>(support::complete(9), w.rank(), w.size());
    auto r = coloring(w, g);
    EXPECT_EQ(wrong_fact(w, g, r), std::nullopt);
    r.num_colors = 8;
    EXPECT_EQ(wrong_fact(w, g, r), "the result has colors 8, expected 9");
  });
}

TEST(ColoringJudge, CatchesWrongColors) {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> edges{{0, 1}, {1, 2}, {2, 2}};
  EXPECT_EQ(ref::coloring_violation(3, edges, {0, 1, 0}), "");
  EXPECT_NE(ref::coloring_violation(3, edges, {0, 1, 1}), "");
  EXPECT_NE(ref::coloring_violation(3, edges, {0, 1, 9}), "");
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> both{{0, 1}, {1, 0}, {1, 2}, {2, 1}};
  EXPECT_EQ(ref::coloring_violation(3, both, {0, 1, 2}), "");
  EXPECT_NE(ref::coloring_violation(3, both, {0, 1, 3}), "");
  EXPECT_NE(ref::coloring_violation(3, edges, {0, 1}), "");
}

TEST(ColoringContract, DirectedEdgesCountBothWays) {
  const auto g = support::one_way_path(4);
  world w;
  const auto out = support::share_of<std::uint32_t>(g, 0, 1, support::in_edges::no);
  EXPECT_THROW(static_cast<void>(coloring(w, out)), contract_violation);
}

}  // namespace
}  // namespace cairn::algo::coloring_test
