// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/ref/pagerank.hpp>
#include <cairn/algo/verify_pagerank.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>

#include <support/activity_options.hpp>
#include <support/dist_graph.hpp>
#include <support/pagerank_judging.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo {
namespace {

using activity::mechanism;
using pgas::accumulation;
using ref::pagerank_judge;
using support::judge_of;
using support::plain_graph;
using support::rounding;

// Runs it once and has it judged: by the serial judge, which shares no code, and the verifier.
template <class Real, class Id>
pagerank_result<Real> rank_and_judge(
    world& w, const plain_graph& g, const pagerank_options& opt, const std::string& how,
    std::optional<typename pull_layout<Id>::kind> kind = std::nullopt) {
  SCOPED_TRACE(g.name + how);
  const auto share = support::share_of<Id>(g, w.rank(), w.size());
  std::optional<pull_layout<Id>> layout;
  if (kind) layout.emplace(w, share, *kind);
  auto result = pagerank<Real>(w, share, opt, layout ? &*layout : nullptr);
  EXPECT_EQ(verify_pagerank(w, share, result, opt), std::nullopt);
  std::vector<double> ranks;
  for (const Real x : w.all_gather_values<Real>(result.rank.local())) ranks.push_back(x);
  const auto judge = judge_of(g, opt);
  const auto limits = limits_of(opt, g.n);
  const double off = rounding<Real>(judge, ranks);
  if (!result.in_place) {
    const auto expected = judge.after(result.iterations);
    EXPECT_LE(pagerank_judge::distance(ranks, expected), off);
    if (std::is_same_v<Real, double>) {
      for (std::size_t v = 0; v < ranks.size(); ++v) EXPECT_NEAR(ranks[v], expected[v], 1e-9);
      EXPECT_GE(result.iterations, judge.sweeps_until(limits.tolerance + off, limits.max_sweeps));
      EXPECT_LE(result.iterations, judge.sweeps_until(limits.tolerance - off, limits.max_sweeps));
    }
  }
  if (result.iterations != 0) {
    EXPECT_LE(pagerank_judge::distance(ranks, judge.fixed_point()),
              result.change * opt.damping / (1 - opt.damping) + off);
  }
  const double sum = std::accumulate(ranks.begin(), ranks.end(), 0.0);
  if (limits.spread_sinks && g.n != 0) {
    EXPECT_NEAR(sum, 1, off);
  }
  EXPECT_TRUE(result.iterations == limits.max_sweeps || result.change < limits.tolerance);
  EXPECT_EQ(result.aggregate.has_value(),
            opt.aggregate.has_value() && opt.variant != pagerank_variant::pull);
  return result;
}

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
            EXPECT_TRUE(how == mechanism::automatic || r.ran.mechanism == how);
          }
        }
      });
    }
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
  constexpr std::uint64_t n = 500;
  plain_graph ascending{"ascending", n, true, {}};
  random64 random(1);
  for (int edge = 0; edge < 3'000; ++edge) {
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
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    random64 shape(seed, 9);
    const auto ranks = static_cast<rank_t>(1 + shape.below(9));
    const auto workers = static_cast<int>(1 + shape.below(3));
    world_options options;
    if (shape.below(2) == 0) options.coalesce_bytes = 16 + shape.below(100);
    options.emulate_transactions = shape.below(2) == 0;
    options.emulation_seed = seed;
    SCOPED_TRACE("seed " + std::to_string(seed));
    support::on_simulated_ranks(
        ranks, workers, seed,
        [&](world& w) {
          random64 random(seed);
          rank_at_random(w, support::random_graph(seed), random);
        },
        options);
  }
}

}  // namespace
}  // namespace cairn::algo
