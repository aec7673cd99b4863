// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/verify_pagerank.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>

#include <support/activity_options.hpp>
#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

#include "algo/rank_and_judge.hpp"

namespace cairn::algo::pagerank_test {
namespace {

using activity::mechanism;
using pgas::accumulation;
using support::plain_graph;

// Draws how to rank; every value of every option occurs within a few dozen draws.
pagerank_options random_options(random64& random, int workers) {
  pagerank_options opt;
  opt.variant = static_cast<pagerank_variant>(random.below(3));
  opt.convention = static_cast<pagerank_convention>(random.below(3));
  if (random.below(3) == 0) opt.sweep = pagerank_sweep::jacobi;
  if (random.below(3) == 0) opt.iterations = random.below(40);
  if (random.below(3) == 0) opt.tolerance = random.below(2) == 0 ? 0 : 1e-7;
  if (random.below(4) == 0) opt.damping = static_cast<double>(random.below(10)) / 10;
  if (random.below(2) == 0) {
    opt.aggregate->method = static_cast<accumulation>(random.below(3));
    opt.aggregate->bin_bytes = 1 + random.below(100);
  } else {
    opt.aggregate = std::nullopt;
  }
  opt.activity = support::random_activity(random, workers);
  return opt;
}

std::string describe(const pagerank_options& opt) {
  return ", variant " + std::to_string(static_cast<int>(opt.variant)) + ", convention " +
         std::to_string(static_cast<int>(opt.convention)) +
         (opt.aggregate
              ? ", accumulation " + std::to_string(static_cast<int>(opt.aggregate->method))
              : ", " + std::string(name(opt.activity.mechanism))) +
         (opt.activity.emulate ? ", emulated" : "") + ", damping " + std::to_string(opt.damping);
}

// The same draws on every rank, and thus the same collective calls.
void rank_at_random(world& w, const plain_graph& g, random64& random) {
  const auto opt = random_options(random, w.workers());
  switch (random.below(4)) {
    case 0:
      static_cast<void>(rank_and_judge<float, std::uint32_t>(w, g, opt, describe(opt)));
      return;
    case 1:
      static_cast<void>(rank_and_judge<float, std::uint64_t>(w, g, opt, describe(opt)));
      return;
    case 2:
      static_cast<void>(rank_and_judge<double, std::uint64_t>(w, g, opt, describe(opt)));
      return;
    default:
      static_cast<void>(rank_and_judge<double, std::uint32_t>(w, g, opt, describe(opt)));
  }
}

class Pagerank : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Pagerank, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Pagerank, IsRightOnCornerGraphs) {
  GetParam().run([](world& w) {
    random64 random(1);
    for (const auto& g : support::corner_graphs()) rank_at_random(w, g, random);
    rank_at_random(w, {"no vertex", 0, true, {}}, random);
  });
}

TEST_P(Pagerank, IsRightOnRandomGraphs) {
  const int graphs = GetParam().simulated() ? 24 : 8;
  GetParam().run([&](world& w) {
    random64 random(2);
    for (int i = 0; i < graphs; ++i) rank_at_random(w, support::random_graph(random()), random);
  });
}

// Draws how to pull, in place too, by layouts of both kinds.
template <class Real, class Id>
void rank_by_layouts(world& w, const plain_graph& g, random64& random) {
  auto opt = random_options(random, w.workers());
  opt.variant = pagerank_variant::pull;
  for (const auto kind : {pull_layout<Id>::kind::automatic, pull_layout<Id>::kind::groups,
                          pull_layout<Id>::kind::tiles}) {
    static_cast<void>(rank_and_judge<Real, Id>(
        w, g, opt, describe(opt) + ", layout " + std::to_string(static_cast<int>(kind)), kind));
  }
}

TEST_P(Pagerank, IsRightByLayouts) {
  const int graphs = support::num_random_graphs(GetParam().simulated() ? 8 : 4);
  GetParam().run([&](world& w) {
    random64 random(5);
    for (const auto& g : support::corner_graphs())
      rank_by_layouts<float, std::uint32_t>(w, g, random);
    for (int i = 0; i < graphs; ++i) {
      const auto g = support::random_graph(random());
      rank_by_layouts<float, std::uint32_t>(w, g, random);
      rank_by_layouts<double, std::uint64_t>(w, g, random);
    }
  });
}

TEST_P(Pagerank, IsRightWithTinyBuffers) {
  GetParam().run(
      [](world& w) {
        random64 random(3);
        for (int i = 0; i < 6; ++i) rank_at_random(w, support::random_graph(random()), random);
      },
      {.coalesce_bytes = 16, .coalesce_age_ns = 0, .pending_bytes = 100});
}

// Every variant by every convention, however it adds up, on a graph with sinks.
TEST_P(Pagerank, AgreesWithTheJudgeInEveryMode) {
  const auto g = support::random_graph(12, 90);
  ASSERT_TRUE(g.directed);
  GetParam().run([&](world& w) {
    for (const auto convention : {pagerank_convention::gap, pagerank_convention::graphalytics,
                                  pagerank_convention::networkx}) {
      for (const auto variant :
           {pagerank_variant::pull, pagerank_variant::push, pagerank_variant::edge}) {
        pagerank_options opt{.variant = variant, .convention = convention};
        static_cast<void>(rank_and_judge<double, std::uint32_t>(w, g, opt, describe(opt)));
        opt.sweep = pagerank_sweep::jacobi;
        opt.aggregate = std::nullopt;
        static_cast<void>(rank_and_judge<float, std::uint32_t>(w, g, opt, describe(opt)));
      }
    }
  });
}

// Each mechanism with both ways to push, emulated transactions aborting for every cause.
TEST(PagerankOptions, EveryMechanismGivesTheSameRanks) {
  for (const int workers : {1, 2}) {
    for (const auto how : {mechanism::automatic, mechanism::plain, mechanism::atomics,
                           mechanism::htm, mechanism::locks}) {
      if (how == mechanism::plain && workers > 1) continue;
      support::on_simulated_ranks(3, workers, 7, [&](world& w) {
        for (const auto variant : {pagerank_variant::push, pagerank_variant::edge}) {
          pagerank_options opt{.variant = variant, .aggregate = std::nullopt};
          opt.activity.mechanism = how;
          opt.activity.emulate = activity::emulation_options{};
          for (const auto& g : {support::random_graph(5, 200), support::star(150)}) {
            const auto r = rank_and_judge<double, std::uint32_t>(w, g, opt, describe(opt));
            static_cast<void>(rank_and_judge<float, std::uint32_t>(w, g, opt, describe(opt)));
            EXPECT_TRUE(how == mechanism::automatic || r.ran.mechanism == how);
          }
        }
      });
    }
  }
}

// In float the sum at the hub would be wrong by six thousandths.
TEST(PagerankPush, AMillionEqualContributionsAreSummedExactlyEnough) {
  constexpr std::uint64_t n = 1'000'000;
  plain_graph star{"directed star", n, true, {}};
  for (std::uint64_t v = 1; v < n; ++v) star.edges.push_back({v, 0});
  using sums = std::optional<pgas::accumulator_options>;
  const auto by_operators = sums(std::nullopt), partials = sums({.method = accumulation::partials}),
             bins = sums({.method = accumulation::bins});
  const auto rank = [&](world& w, pagerank_variant variant, const sums& how) {
    const auto share = support::share_of<std::uint32_t>(star, w.rank(), w.size());
    const pagerank_options opt{.variant = variant, .aggregate = how};
    const auto r = pagerank<float>(w, share, opt);
    EXPECT_EQ(verify_pagerank(w, share, r, opt), std::nullopt) << describe(opt);
    constexpr double jump = 0.15 / n, expected = jump + 0.85 * (n - 1) * jump;
    if (!r.rank.owns(0)) return;
    EXPECT_NEAR(r.rank.load(0) / expected, 1, 1e-5) << describe(opt);
  };
  support::on_ranks(2, 1, [&](world& w) {
    for (const auto& how : {by_operators, partials, bins}) rank(w, pagerank_variant::push, how);
  });
  for (const int workers : {1, 2}) {
    world w(workers);
    for (const auto& how : {by_operators, partials, bins}) rank(w, pagerank_variant::edge, how);
  }
}

TEST(PagerankOptions, ConventionsHaveTheirLimits) {
  const auto limits = [](const pagerank_options& opt) {
    const auto l = limits_of(opt, 1000);
    return std::tuple(l.spread_sinks, l.max_sweeps, l.tolerance);
  };
  constexpr auto gap = pagerank_convention::gap, ldbc = pagerank_convention::graphalytics,
                 networkx = pagerank_convention::networkx;
  EXPECT_EQ(limits({.convention = gap}), std::tuple(false, 20u, 1e-4));
  EXPECT_EQ(limits({.convention = ldbc}), std::tuple(true, 20u, 0.0));
  EXPECT_EQ(limits({.convention = networkx}), std::tuple(true, 100u, 1e-6 * 1000));
  EXPECT_EQ(limits({.convention = gap, .iterations = 3, .tolerance = 1e-9}),
            std::tuple(false, 3u, 1e-9));
  EXPECT_EQ(limits({.convention = ldbc, .iterations = 3, .tolerance = 1}),
            std::tuple(true, 3u, 0.0));
  EXPECT_EQ(limits({.convention = networkx, .iterations = 3, .tolerance = 1}),
            std::tuple(true, 3u, 1000.0));
}

TEST(PagerankOptions, RefuseWhatCannotBeRight) {
  const auto g = support::one_way_path(4);
  const auto without_in = support::share_of<std::uint32_t>(g, 0, 1, support::in_edges::no);
  world one, two(2);
  const auto refused = [&](world& w, const pagerank_options& opt) {
    static_cast<void>(pagerank<float>(w, without_in, opt));
  };
  EXPECT_THROW(refused(one, {}), contract_violation);
  for (const double damping : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(refused(one, {.variant = pagerank_variant::push, .damping = damping}),
                 contract_violation);
  }
  EXPECT_THROW(refused(one, {.variant = pagerank_variant::push, .sweep = pagerank_sweep::in_place}),
               contract_violation);
  EXPECT_THROW(refused(two, {.variant = pagerank_variant::push,
                             .aggregate = std::nullopt,
                             .activity = {.mechanism = mechanism::plain}}),
               usage_error);
  refused(two, {.variant = pagerank_variant::push});
}

TEST(PagerankRouting, EverySchemeGivesRightRanks) {
  for (const auto scheme : {routing::grid, routing::hypercube, routing::machine}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const auto ranks = static_cast<rank_t>(2 + seed % 7);
      support::on_simulated_ranks(
          ranks, 1 + static_cast<int>(seed % 2), seed,
          [seed](world& w) {
            random64 random(seed);
            for (int i = 0; i < 3; ++i) rank_at_random(w, support::random_graph(random()), random);
          },
          {.coalesce_bytes = 64, .routing = scheme, .machines = machine_layout::dealt(ranks, 2)});
    }
  }
}

TEST(PagerankSimulated, ManySeedsGiveRightResults) {
  support::on_many_clusters({.num_seeds = 120}, [](world& w, std::uint64_t seed, random64& random) {
    rank_at_random(w, support::random_graph(seed), random);
  });
}

}  // namespace
}  // namespace cairn::algo::pagerank_test
