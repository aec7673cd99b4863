// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/pagerank.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/traverse/small_run.hpp>

#include <support/dist_graph.hpp>
#include <support/on_ranks.hpp>
#include <support/random_graphs.hpp>

#include "algo/rank_and_judge.hpp"

namespace cairn::algo::pagerank_in_place_test {
namespace {

using support::plain_graph;

TEST(PagerankOptions, InPlaceNeedsFewerSweeps) {
  world w;
  const auto share = support::share_of<std::uint32_t>(support::path(300), 0, 1);
  pagerank_options opt{.iterations = 1000, .tolerance = 1e-9};
  const auto in_place = pagerank<double>(w, share, opt);
  opt.sweep = pagerank_sweep::jacobi;
  const auto jacobi = pagerank<double>(w, share, opt);
  EXPECT_TRUE(in_place.in_place);
  EXPECT_FALSE(jacobi.in_place);
  EXPECT_LT(3 * in_place.iterations, 2 * jacobi.iterations);
}

// Few vertices have most in-edges. Sweeps in place change the sum of all ranks in the first sweeps:
// without correction these two graphs would need 42 and 40 sweeps.
TEST(PagerankOptions, InPlaceCorrectsTheSumOfAllRanks) {
  constexpr std::uint64_t n = 2'000;
  plain_graph first{"hubs first", n, true, {}}, last{"hubs last", n, true, {}};
  random64 random(1);
  for (std::uint64_t v = 0; v < n; ++v) {
    for (int edge = 0; edge < 8; ++edge) {
      const auto hub = random.below(1 + random.below(1 + random.below(n)));
      first.edges.push_back({v, hub});
      last.edges.push_back({v, n - 1 - hub});
    }
  }
  world w;
  for (const auto& g : {first, last}) {
    const auto result = rank_and_judge<double, std::uint32_t>(
        w, g, {.iterations = 1000, .tolerance = 1e-6}, " in place");
    EXPECT_LT(result.iterations, 20u) << g.name;
  }
}

// As in a file that lists the edges of an undirected graph once.
TEST(PagerankOptions, OneSweepSufficesWhereSourcesPrecede) {
  constexpr std::uint64_t n = 4'000;
  plain_graph ascending{"ascending", n, true, {}};
  random64 random(1);
  for (int edge = 0; edge < 24'000; ++edge) {
    const auto u = random.below(n - 1);
    ascending.edges.push_back({u, u + 1 + random.below(n - 1 - u)});
  }
  plain_graph loop = ascending, back = ascending;
  loop.name = "loop";
  loop.edges.push_back({n / 2, n / 2});
  back.name = "back";
  back.edges.push_back({n - 1, n - 2});
  for (const int workers : {1, 2, 3, 4}) {
    world w(workers);
    for (const auto& g : {ascending, loop, back}) {
      const auto result = rank_and_judge<double, std::uint32_t>(
          w, g, {.iterations = 1000, .tolerance = 1e-9}, " by few workers");
      EXPECT_EQ(result.iterations == 1, workers <= 3 && g.name == ascending.name)
          << g.name << ", " << workers << " workers, " << result.iterations << " sweeps";
    }
  }
}

// Rows of equal length have a loop of their own.
TEST(PagerankOptions, LongPathsAreRankedRight) {
  for (const int workers : {1, 2, 3}) {
    world w(workers);
    rank_and_judge<double, std::uint32_t>(
        w, support::path(5'000), {.iterations = 1000, .tolerance = 1e-9}, " with equal rows");
  }
}

// Runs reuse memory whose contents are those of earlier data.
TEST(PagerankOptions, EarlierContentsOfMemoryDoNotMatter) {
  const auto graph = support::path(5'000);
  world w(2);
  const auto spoil = [&] {
    std::vector<hw::page_buffer<double>> taken;
    for (int i = 0; i < 8; ++i) {
      auto& b = taken.emplace_back(graph.n, w.memory());
      std::ranges::fill(b, std::numeric_limits<double>::quiet_NaN());
    }
  };
  for (const auto variant :
       {pagerank_variant::pull, pagerank_variant::push, pagerank_variant::edge}) {
    for (const auto sweep : {pagerank_sweep::automatic, pagerank_sweep::jacobi}) {
      spoil();
      rank_and_judge<double, std::uint32_t>(
          w, graph, {.variant = variant, .sweep = sweep, .iterations = 1000, .tolerance = 1e-9},
          " in used memory");
    }
  }
}

// In small graphs runs differ in the way to sum rows, but all ways add in the same order.
TEST(PagerankOptions, BothWaysToShareARunGiveTheSameRanks) {
  plain_graph g{"rows of 0 to 20 and of 1,500 sources", 2'000, true, {}};
  random64 random(7);
  for (std::uint64_t v = 0; v < g.n; ++v) {
    const auto row = v == 1'000 ? 1'500 : random.below(21);
    for (std::uint64_t i = 0; i < row; ++i) g.edges.push_back({random.below(g.n), v});
  }
  world w;
  const auto share = support::share_of<std::uint32_t>(g, 0, 1);
  const pagerank_options opt{.iterations = 1000, .tolerance = 1e-6};
  w.sharing().fix(traverse::small_run::shared);
  const auto near = pagerank<float>(w, share, opt);
  w.sharing().fix(traverse::small_run::shared_otherwise);
  const auto even = pagerank<float>(w, share, opt);
  EXPECT_EQ(even.iterations, near.iterations);
  EXPECT_TRUE(std::ranges::equal(even.rank.local(), near.rank.local()));
}

TEST(PagerankOptions, RunsOfTwoWorkersAreRightSharedOrOnOneWorker) {
  const auto rank_again_and_again = [](world& w) {
    const pagerank_options opt{.iterations = 1000, .tolerance = 1e-9};
    const auto share = support::share_of<std::uint32_t>(support::grid(40, 40), 0, 1);
    int alone = 0, shared = 0;
    for (int run = 0; run < 12; ++run) {
      const auto result = pagerank<double>(w, share, opt);
      EXPECT_EQ(verify_pagerank(w, share, result, opt), std::nullopt);
      ++(result.sweepers == 1 ? alone : shared);
    }
    EXPECT_GT(alone, 0);
    EXPECT_GT(shared, 0);
    EXPECT_EQ(w.workers(), 2);
  };
  support::on_ranks(1, 2, rank_again_and_again, {.small_work_alone = true});
}

}  // namespace
}  // namespace cairn::algo::pagerank_in_place_test
