// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
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
#include <support/walks.hpp>

namespace cairn::algo::walk_test {
namespace {

using support::all_of;
using support::counts;
using support::paths_of;
using support::plain_graph;
using support::visits_of_one;
using edges = std::vector<graph::edge<std::uint64_t>>;

ref::walk_counts expected_of(const plain_graph& g, const walk_options& opt) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> arcs;
  for (const auto& e : g.edges) {
    arcs.emplace_back(e.source, e.target);
    if (!g.directed && e.source != e.target) arcs.emplace_back(e.target, e.source);
  }
  return ref::random_walks(
      g.n, arcs, opt.walkers, opt.length,
      [&](std::uint64_t walker) { return random64(opt.key).stream(walker); },
      ref::walk_bias{opt.p, opt.q});
}

template <class Id>
void walk_and_judge(world& w, const plain_graph& g, const walk_options& opt) {
  const auto share = support::share_of<Id>(g, w.rank(), w.size());
  const auto r = walk(w, share, opt);
  const auto expected = expected_of(g, opt);
  const auto description = g.name + ", " + std::to_string(opt.walkers) + " walkers of length " +
                           std::to_string(opt.length) + ", p " + std::to_string(opt.p) + ", q " +
                           std::to_string(opt.q);
  EXPECT_EQ(all_of(w, r.visits), expected.visits) << description;
  EXPECT_EQ(r.steps, expected.steps) << description;
  EXPECT_EQ(r.ended_early, expected.ended_early) << description;
  ASSERT_EQ(r.paths.has_value(), opt.paths);
  if (r.paths) {
    EXPECT_EQ(paths_of(w, *r.paths), expected.paths) << description;
  }
  EXPECT_EQ(verify_walk(w, share, opt, r.visits, walk_totals{r.steps, r.ended_early},
                        r.paths ? &*r.paths : nullptr),
            std::nullopt)
      << description;
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

TEST(WalkOfOne, GoesBackIfAllEdgesLeadBack) {
  const auto path = support::path(2);
  for (const double p : {1e-300, 1e300}) {
    const auto visits = visits_of_one(path, {10, 99, 3, p, max_walk_bias});
    EXPECT_EQ(visits, (counts{500, 500}));
  }
}

// A step takes about 1,000 draws. Between some of them other messages are handled.
TEST(WalkOfOne, GivesUpItsTurnAfterManyRejectedDraws) {
  world w;
  const auto g = support::grid(20, 20);
  const walk_options opt{.walkers = 3, .length = 20, .key = 5, .p = 1e9, .q = 1000};
  static_cast<void>(walk(w, support::share_of<std::uint32_t>(g, 0, 1), opt));
  EXPECT_GT(w.counters().total(obs::counter::messages_handled), opt.walkers * opt.length);
  walk_and_judge<std::uint32_t>(w, g, opt);
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
  const auto share =
      support::share_of<std::uint32_t>(support::plain_graph{"loop", 1, false, {{0, 0}}}, 0, 1);
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
  const auto empty =
      support::share_of<std::uint32_t>(support::plain_graph{"empty", 0, false, {}}, 0, 1);
  EXPECT_THROW(static_cast<void>(walk(w, empty, {1, 1, 1})), contract_violation);
  const auto one =
      support::share_of<std::uint32_t>(support::plain_graph{"one", 1, false, {}}, 0, 1);
  EXPECT_THROW(static_cast<void>(walk(w, one, {1, std::uint64_t{1} << 32, 1})), contract_violation);
  for (const double x : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(static_cast<void>(walk(w, one, {1, 1, 1, x})), contract_violation);
    EXPECT_THROW(static_cast<void>(walk(w, one, {1, 1, 1, 1, x})), contract_violation);
  }
  EXPECT_THROW(static_cast<void>(walk(w, one, {1, 1, 1, 1, 1'001})), contract_violation);
}

}  // namespace
}  // namespace cairn::algo::walk_test
