// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/verify_pagerank.hpp>
#include <cairn/base/contract.hpp>

#include <support/dist_graph.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo::pagerank_layout_test {
namespace {

using support::plain_graph;

// Several segments and blocks, rows longer than the loops that are unrolled, and one longer than
// the lengths that are sorted.
TEST(PagerankLayout, OfManyTilesGivesTheSameRanks) {
  constexpr std::uint64_t n = 100'000;
  random64 random(6);
  plain_graph g{"large graph", n, false, {}};
  for (std::uint64_t i = 0; i < 4 * n; ++i) {
    const auto a = random.below(n);
    g.edges.push_back({a, random.below(i % 4 == 0 ? 1 + n / 500 : n)});
  }
  for (std::uint64_t i = 0; i < 50'000; ++i) g.edges.push_back({7, i});
  for (const int workers : {1, 2}) {
    world w(workers);
    const auto share = support::share_of<std::uint32_t>(g, 0, 1);
    const pagerank_options opt{.sweep = pagerank_sweep::jacobi, .iterations = 5, .tolerance = 0.0};
    const auto expected = pagerank<double>(w, share, opt);
    using layout = pull_layout<std::uint32_t>;
    for (const auto kind : {layout::kind::groups, layout::kind::tiles}) {
      const layout built(w, share, kind);
      EXPECT_EQ(built.tiled(), kind == layout::kind::tiles);
      const auto r = pagerank<double>(w, share, opt, &built);
      for (std::uint64_t v = 0; v < n; ++v) {
        ASSERT_NEAR(r.rank.load(v), expected.rank.load(v), 1e-12) << v;
      }
      const auto in_place = pagerank<float>(w, share, {}, &built);
      EXPECT_EQ(verify_pagerank(w, share, in_place, {}), std::nullopt);
    }
  }
}

// A million equal contributions, added in four parts, would be wrong by a thousandth.
TEST(PagerankLayout, RowsOfAMillionEqualContributionsAreSummedExactlyEnough) {
  constexpr std::uint64_t n = 1'000'000;
  plain_graph star{"directed star", n, true, {}};
  for (std::uint64_t v = 1; v < n; ++v) star.edges.push_back({v, 0});
  world w;
  const auto share = support::share_of<std::uint32_t>(star, 0, 1);
  using layout = pull_layout<std::uint32_t>;
  const layout groups(w, share, layout::kind::groups), tiles(w, share, layout::kind::tiles);
  for (const layout* l : {static_cast<const layout*>(nullptr), &groups, &tiles}) {
    const auto r = pagerank<float>(w, share, {}, l);
    EXPECT_EQ(verify_pagerank(w, share, r, {}), std::nullopt);
    const double jump = 0.15 / n, expected = jump + 0.85 * (n - 1) * jump;
    EXPECT_NEAR(r.rank.load(0) / expected, 1, 1e-5);
  }
}

// Rows in the order of their lengths, each updated at once, would all but double the sweeps: short
// rows first lower the sum of the ranks, which sweeps restore slowly.
TEST(PagerankLayout, NeedsHardlyMoreSweepsInPlaceThanTheRows) {
  constexpr std::uint64_t n = 1 << 14;
  random64 random(7);
  plain_graph uniform{"uniform graph", n, false, {}}, skewed{"skewed graph", n, false, {}};
  for (std::uint64_t i = 0; i < 16 * n; ++i) {
    uniform.edges.push_back({random.below(n), random.below(n)});
    skewed.edges.push_back({random.below(n), random.below(1 + random.below(n))});
  }
  world w;
  for (const auto& g : {uniform, skewed}) {
    const auto share = support::share_of<std::uint32_t>(g, 0, 1);
    using layout = pull_layout<std::uint32_t>;
    const layout groups(w, share, layout::kind::groups);
    const auto by_rows = pagerank<float>(w, share, {}).iterations;
    EXPECT_LE(pagerank<float>(w, share, {}, &groups).iterations, by_rows + 1) << g.name;
  }
}

TEST(PagerankLayout, IsOfTheGraphAndForPull) {
  world w;
  const auto a = support::share_of<std::uint32_t>(support::path(9), 0, 1);
  const auto b = support::share_of<std::uint32_t>(support::path(8), 0, 1);
  const pull_layout<std::uint32_t> layout(w, a);
  EXPECT_THROW(static_cast<void>(pagerank<float>(w, b, {}, &layout)), contract_violation);
  EXPECT_THROW(
      static_cast<void>(pagerank<float>(w, a, {.variant = pagerank_variant::push}, &layout)),
      contract_violation);
  EXPECT_EQ(pull_layout<std::uint32_t>::kind_for(a), pull_layout<std::uint32_t>::kind::groups);
}

}  // namespace
}  // namespace cairn::algo::pagerank_layout_test
