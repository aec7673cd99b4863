// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/algorithm.hpp>
#include <cairn/algo/mst.hpp>
#include <cairn/algo/ref/mst.hpp>
#include <cairn/algo/verify_mst.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>

#include <support/activity_options.hpp>
#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>
#include <support/refusal.hpp>
#include <support/weighted_graph.hpp>

#include "algo/merging.hpp"
#include "algo/wrong_fact.hpp"

namespace cairn::algo::mst_test {
namespace {

using activity::mechanism;
using support::plain_graph;
using support::share_of;
using support::weighted_graph;
using support::weights;

template <class Id>
void find_and_judge(world& w, const weighted_graph& g, const mst_options& opt) {
  const auto setting = g.graph.name + ", " + support::describe(opt.activity) + ", weights " +
                       std::to_string(static_cast<int>(g.kind)) + ", merge " +
                       std::to_string(static_cast<int>(opt.merge));
  const auto share = share_of<Id>(g, w.rank(), w.size());
  const auto result = mst(w, share, opt);
  std::vector<ref::weighted_edge> found;
  for (const auto& e : w.all_gather_values<mst_edge<Id>>(result.edges)) {
    found.push_back({e.source, e.target, e.weight});
  }
  const auto expected = ref::kruskal(g.graph.n, g.edges);
  double weight = 0;
  for (const auto& e : expected) weight += e.weight;
  EXPECT_EQ(found, expected) << setting;
  EXPECT_EQ(result.num_edges, expected.size()) << setting;
  EXPECT_EQ(result.num_trees, g.graph.n - expected.size()) << setting;
  EXPECT_EQ(result.weight, weight) << setting;  // quarters add up exactly
  EXPECT_EQ(verify_mst<Id>(w, share, result.edges), std::nullopt) << setting;
}

weighted_graph weigh_undirected(plain_graph g, weights kind, random64& random) {
  g.directed = false;
  return support::weigh(std::move(g), kind, -4, random);
}

// The same draws on every rank, and thus the same collective calls.
void find_at_random(world& w, const plain_graph& g, random64& random) {
  mst_options opt{.activity = support::random_multi_cell_activity(random, w.workers())};
  const auto merge = random.below(3);
  if (w.size() > 1) opt.merge = static_cast<mst_merge>(merge);
  const auto weighted = weigh_undirected(g, static_cast<weights>(random.below(3)), random);
  if (random.below(2) == 0) {
    find_and_judge<std::uint32_t>(w, weighted, opt);
  } else {
    find_and_judge<std::uint64_t>(w, weighted, opt);
  }
}

class Mst : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Mst, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Mst, IsRightOnCornerGraphs) {
  GetParam().run([](world& w) {
    random64 random(1);
    for (const auto& g : support::corner_graphs()) find_at_random(w, g, random);
  });
}

TEST_P(Mst, IsRightOnRandomGraphs) {
  const int graphs = support::num_random_graphs(GetParam().simulated() ? 20 : 6);
  GetParam().run([&](world& w) {
    random64 random(2);
    for (int i = 0; i < graphs; ++i) {
      const auto g = support::random_graph(random(), 100);
      find_at_random(w, g, random);
    }
  });
}

TEST_P(Mst, IsRightWithTinyBuffers) {
  GetParam().run(
      [](world& w) {
        random64 random(3);
        for (int i = 0; i < 4; ++i) {
          const auto g = support::random_graph(random());
          find_at_random(w, g, random);
        }
      },
      {.coalesce_bytes = 16, .coalesce_age_ns = 0, .pending_bytes = 100});
}

// Both merges find the same forest, and transactions run where they are asked for.
TEST_P(Mst, MergesByHookingAndByTransactions) {
  if (GetParam().ranks == 1) return;
  GetParam().run([](world& w) {
    random64 random(5);
    auto g = support::grid(12, 9);
    const auto more = support::random_graph(random(), g.n);
    g.edges.insert(g.edges.end(), more.edges.begin(), more.edges.end());
    for (const auto kind : {weights::none, weights::whole, weights::real}) {
      const auto weighted = weigh_undirected(g, kind, random);
      for (const auto merge : {mst_merge::hooking, mst_merge::transactions}) {
        const auto before = w.sum(w.counters().total(obs::counter::dtx_commits));
        find_and_judge<std::uint32_t>(w, weighted, {.merge = merge});
        const auto commits = w.sum(w.counters().total(obs::counter::dtx_commits)) - before;
        EXPECT_EQ(commits > 0, merge == mst_merge::transactions);
      }
    }
  });
}

// Trees enough for several chunks, so that workers merge beside each other.
TEST(MstWorkers, MergeBesideEachOther) {
  random64 random(4);
  for (const int workers : {2, 3}) {
    world w(workers);
    for (const auto setting : {mechanism::automatic, mechanism::locks, mechanism::one_lock,
                               mechanism::stm, mechanism::htm}) {
      mst_options opt{.activity = {.mechanism = setting}};
      if (setting == mechanism::htm)
        opt.activity.emulate = activity::emulation_options{.seed = random()};
      auto g = support::grid(60, 50);
      const auto more = support::random_graph(random(), g.n);
      g.edges.insert(g.edges.end(), more.edges.begin(), more.edges.end());
      find_and_judge<std::uint32_t>(w, weigh_undirected(std::move(g), weights::real, random), opt);
    }
  }
}

// A hub whose edges are all heavier than a path of trees climbs that path for each of them.
TEST(MstMerging, ClimbingHalvesThePath) {
  world w(1);
  constexpr std::uint32_t n = 1000;
  pgas::vertex_map<std::uint32_t> parent(w, pgas::partition(n, 1), 0);
  for (std::uint32_t v = 1; v < n; ++v) parent.store(v, v - 1);
  for (std::uint32_t longest = n - 1; longest > 1; longest = (longest + 1) / 2) {
    std::uint32_t steps = 0;
    for (auto v = n - 1; v != 0; v = parent.load(v)) ++steps;
    EXPECT_LE(steps, longest);
    EXPECT_EQ(climb_in(parent, n - 1), 0);
  }
}

TEST(MstSimulated, ManySeedsGiveRightResults) {
  support::on_many_clusters({.num_seeds = 100, .emulate_transactions = false},
                            [](world& w, std::uint64_t seed, random64& random) {
                              find_at_random(w, support::random_graph(seed), random);
                            });
}

TEST(MstOptions, RefuseWhatCannotBeRight) {
  const auto directed = support::share_of<std::uint32_t>(support::one_way_path(4), 0, 1);
  world one, two(2);
  EXPECT_THROW(static_cast<void>(mst(one, directed)), contract_violation);
  const auto g = support::share_of<std::uint32_t>(support::path(4), 0, 1);
  EXPECT_THROW(static_cast<void>(mst(two, g, {.activity = {.mechanism = mechanism::plain}})),
               usage_error);
  EXPECT_THROW(static_cast<void>(mst(two, g, {.activity = {.mechanism = mechanism::atomics}})),
               usage_error);
  for (const auto merge : {mst_merge::hooking, mst_merge::transactions}) {
    EXPECT_THROW(static_cast<void>(mst(one, g, {.merge = merge})), usage_error);
  }
}

TEST(MstWeight, BeyondTheLargestDoubleIsRefused) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      const auto said = [&](double weight) {
        const weighted_graph g{
            support::path(4), weights::real, {{0, 1, 1}, {1, 2, weight}, {2, 3, weight}}};
        const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
        return support::refusal_of([&] { static_cast<void>(mst(w, share)); });
      };
      EXPECT_EQ(said(8e307), "accepted");
      for (const double weight : {1e308, -1e308}) {
        EXPECT_EQ(said(weight), "the edge from 1 to 2 has weight " +
                                    std::string(weight < 0 ? "-" : "") +
                                    "1e+308: the total weight of the forest exceeds the largest "
                                    "double");
      }
    });
  }
}

// The judge of a report's weight: exact for integers, within the rounding of the sum for reals.
TEST(MstJudge, ComparesIntegerWeightsExactlyAndRealOnesUpToRounding) {
  const auto said = [](const std::vector<ref::weighted_edge>& edges, double weight) {
    ref::output found;
    found.numbers = {{"edges", static_cast<double>(edges.size())}, {"weight", weight}};
    const auto at = std::ranges::find_if(
        algorithms(), [](const algorithm* a) { return a->info().name == "mst"; });
    return (*at)->check_against_reference(
        {.num_vertices = edges.size() + 1, .directed = false, .edges = edges, .arcs = {}}, {},
        found);
  };
  std::vector<ref::weighted_edge> path;
  for (std::uint64_t v = 0; v < 100; ++v) path.push_back({v, v + 1, 2e9});
  EXPECT_EQ(said(path, 2e11), "");
  EXPECT_NE(said(path, 2e11 + 100), "");
  const std::vector<ref::weighted_edge> cancels{{0, 1, .1}, {1, 2, .2}, {2, 3, -.3}};
  EXPECT_EQ(said(cancels, .1 + (.2 - .3)), "");
  EXPECT_NE(said(cancels, 1e-9), "");
}

TEST_P(Mst, FactsThatDoNotFollowFromTheEdgesAreFound) {
  GetParam().run([](world& w) {
    random64 random(7);
    const auto g = weigh_undirected(support::grid(4, 5), weights::whole, random);
    const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
    auto r = mst(w, share);
    EXPECT_EQ(wrong_fact(w, share, r), std::nullopt);
    r.weight += 1;
    EXPECT_TRUE(wrong_fact(w, share, r));
    r.weight -= 1, ++r.num_trees;
    EXPECT_EQ(wrong_fact(w, share, r), "the result has trees 2, expected 1");
  });
}

// A square with a diagonal and an isolated vertex, one rank or two.
class VerifyMst : public ::testing::TestWithParam<rank_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, VerifyMst, ::testing::Values(1, 2, 3));

TEST_P(VerifyMst, AcceptsWhatIsMinimalAndNothingElse) {
  const std::vector<ref::weighted_edge> square{
      {0, 1, 1}, {1, 2, 1}, {2, 3, 2}, {0, 3, 2}, {0, 2, 3}};
  plain_graph plain{"square", 5, false, {}};
  const weighted_graph g{plain, weights::whole, square};
  using forest = std::vector<mst_edge<std::uint32_t>>;
  support::on_simulated_ranks(GetParam(), 2, 1, [&](world& w) {
    const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
    const auto said = [&](const forest& all) {
      forest mine;
      for (const auto& e : all) {
        if (share.partition().owner(e.source) == w.rank()) mine.push_back(e);
      }
      return verify_mst<std::uint32_t>(w, share, mine).value_or("nothing");
    };
    EXPECT_EQ(said({{0, 1, 1}, {1, 2, 1}, {0, 3, 2}}), "nothing");
    EXPECT_EQ(said({{0, 1, 1}, {1, 2, 1}, {2, 3, 2}}), "nothing") << "ties may be broken so too";
    EXPECT_EQ(said({{0, 1, 1}, {1, 2, 1}, {1, 3, 1}}),
              "the forest's edge 1 - 3 is not an edge of the graph");
    EXPECT_EQ(said({{0, 1, 1}, {1, 2, 1}, {0, 3, 1}}),
              "the forest's edge 0 - 3 has another weight in the graph");
    EXPECT_EQ(said({{0, 1, 1}, {1, 2, 1}, {0, 3, 2}, {0, 1, 1}}),
              "the forest has edge 0 - 1 twice");
    EXPECT_EQ(said({{0, 1, 1}, {1, 2, 1}, {0, 3, 2}, {2, 3, 2}}),
              "the forest has a cycle, to which edge 2 - 3 belongs");
    EXPECT_EQ(said({{0, 1, 1}, {1, 2, 1}}), "the forest does not connect the ends of edge 0 - 3");
    EXPECT_EQ(said({}), "the forest does not connect the ends of edge 0 - 1");
    EXPECT_EQ(said({{0, 1, 1}, {0, 2, 3}, {0, 3, 2}}),
              "the forest is not minimal: edge 1 - 2 is lighter than an edge on the forest path "
              "between its endpoints");
  });
}

TEST(VerifyMstSeeded, CatchesEveryExchangeForAHeavierEdge) {
  random64 random(4);
  int caught = 0;
  for (int i = 0; i < 200; ++i) {
    const auto g = weigh_undirected(support::random_graph(random(), 40), weights::whole, random);
    auto forest = ref::kruskal(g.graph.n, g.edges);
    double weight = 0, wrong_weight = 0;
    for (const auto& e : forest) weight += e.weight;
    auto reversed = g.edges;  // the heaviest spanning forest
    for (auto& e : reversed) e.weight = -e.weight;
    auto heaviest = ref::kruskal(g.graph.n, reversed);
    std::vector<mst_edge<std::uint32_t>> wrong;
    for (const auto& e : heaviest) {
      wrong.push_back(
          {static_cast<std::uint32_t>(e.source), static_cast<std::uint32_t>(e.target), -e.weight});
      wrong_weight -= e.weight;
    }
    world w;
    const auto share = share_of<std::uint32_t>(g, 0, 1);
    EXPECT_EQ(verify_mst<std::uint32_t>(w, share, wrong).has_value(), wrong_weight != weight);
    caught += wrong_weight != weight ? 1 : 0;
  }
  EXPECT_GT(caught, 100);
}

}  // namespace
}  // namespace cairn::algo::mst_test
