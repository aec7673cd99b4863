// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/maxflow.hpp>
#include <cairn/algo/ref/maxflow.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>

#include <support/activity_options.hpp>
#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>
#include <support/weighted_graph.hpp>

namespace cairn::algo::maxflow_test {
namespace {

using support::plain_graph;
using support::share_of;
using support::weighted_graph;
using support::weights;

template <class Id>
void find_and_judge(world& w, const weighted_graph& g, Id s, Id t, const maxflow_options& opt) {
  const auto setting = g.graph.name + ", " + support::describe(opt.activity) + ", " +
                       std::to_string(s) + " to " + std::to_string(t);
  const auto share = share_of<Id>(g, w.rank(), w.size());
  const auto found = maxflow<Id>(w, share, {.s = s, .t = t}, opt);
  EXPECT_EQ(found.value, ref::edmonds_karp(g.graph.n, g.capacities(), s, t)) << setting;
  EXPECT_EQ(
      verify_maxflow<Id>(w, share, {.s = s, .t = t}, found.value, found.flow, found.source_side),
      std::nullopt)
      << setting;
}

// The same draws on every rank, and thus the same collective calls.
void find_at_random(world& w, const plain_graph& plain, random64& random) {
  if (plain.n < 2) return;
  const maxflow_options opt{.activity = support::random_multi_cell_activity(random, w.workers())};
  const auto kind = random.below(3) != 0 ? weights::whole : weights::none;
  const auto g = support::weigh(plain, kind, 0, random);
  const auto s = random.below(plain.n), t = (s + 1 + random.below(plain.n - 1)) % plain.n;
  if (random.below(2) == 0) {
    find_and_judge<std::uint32_t>(w, g, static_cast<std::uint32_t>(s),
                                  static_cast<std::uint32_t>(t), opt);
  } else {
    find_and_judge<std::uint64_t>(w, g, s, t, opt);
  }
}

class Maxflow : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Maxflow, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Maxflow, IsRightOnCornerGraphs) {
  GetParam().run([](world& w) {
    random64 random(1);
    for (const auto& g : support::corner_graphs()) find_at_random(w, g, random);
  });
}

TEST_P(Maxflow, IsRightOnRandomGraphs) {
  const int graphs = GetParam().simulated() ? 20 : 6;
  GetParam().run([&](world& w) {
    random64 random(2);
    for (int i = 0; i < graphs; ++i) find_at_random(w, support::random_graph(random(), 60), random);
  });
}

TEST_P(Maxflow, IsRightWithTinyBuffers) {
  GetParam().run(
      [](world& w) {
        random64 random(3);
        for (int i = 0; i < 3; ++i) find_at_random(w, support::random_graph(random(), 40), random);
      },
      {.coalesce_bytes = 16, .coalesce_age_ns = 0, .pending_bytes = 100});
}

TEST(MaxflowSimulated, ManySeedsGiveRightResults) {
  support::on_many_clusters(
      {.num_seeds = 60, .small_buffers = false, .emulate_transactions = false},
      [](world& w, std::uint64_t seed, random64& random) {
        find_at_random(w, support::random_graph(seed), random);
      });
}

// The hub passes on a unit in each of k pulses, along the last of its k + 1 arcs.
TEST(MaxflowWork, AnActivationGoesOnAtTheArcOfTheLastPush) {
  constexpr std::uint64_t k = 400, hub = k + 1, t = k + 2;
  weighted_graph g{{"broom", k + 3, true, {}}, weights::whole, {}};
  g.edges.push_back({0, 1, double{k}});
  for (std::uint64_t v = 1; v <= k; ++v) {
    if (v < k) g.edges.push_back({v, v + 1, double{k}});
    g.edges.push_back({v, hub, 1});
  }
  g.edges.push_back({hub, t, double{k}});
  world w;
  const auto share = share_of<std::uint32_t>(g, 0, 1);
  const auto found = maxflow<std::uint32_t>(w, share, {.s = 0, .t = t}, {});
  EXPECT_EQ(found.value, static_cast<std::int64_t>(k));
  EXPECT_LT(w.counters().total(obs::counter::edges), k * k / 2);
}

TEST(MaxflowOptions, RefuseWhatCannotBeRight) {
  world w;
  const weighted_graph arc{{"one arc", 2, true, {}}, weights::whole, {{0, 1, -3}}};
  const auto g = share_of<std::uint32_t>(arc, 0, 1);
  EXPECT_THROW(static_cast<void>(maxflow<std::uint32_t>(w, g, {.s = 0, .t = 0})),
               contract_violation);
  EXPECT_THROW(static_cast<void>(maxflow<std::uint32_t>(w, g, {.s = 0, .t = 2})),
               contract_violation);
  EXPECT_THROW(static_cast<void>(maxflow<std::uint32_t>(w, g, {.s = 0, .t = 1})), input_error);
}

// 0 -> 1 -> 3 and 0 -> 2 -> 3, of capacities 2, 1 and 3, 4; a useless 1 -> 2 of 0.
class VerifyMaxflow : public ::testing::TestWithParam<rank_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, VerifyMaxflow, ::testing::Values(1, 2, 3));

TEST_P(VerifyMaxflow, AcceptsWhatIsMaximalAndNothingElse) {
  const weighted_graph g{{"diamond", 4, true, {}},
                         weights::whole,
                         {{0, 1, 2}, {0, 2, 3}, {1, 2, 0}, {1, 3, 1}, {2, 3, 4}}};
  using arcs = std::vector<flow_arc<std::uint32_t>>;
  support::on_simulated_ranks(GetParam(), 2, 1, [&](world& w) {
    const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
    const auto said = [&](std::int64_t value, const arcs& all, std::vector<std::uint32_t> sides) {
      arcs mine;
      for (const auto& a : all) {
        if (share.partition().owner(a.source) == w.rank()) mine.push_back(a);
      }
      pgas::vertex_map<std::uint32_t> side(w, share.partition(), 0);
      for (std::size_t i = 0; i < side.local().size(); ++i) {
        side.local()[i] = sides[side.first() + i];
      }
      return verify_maxflow<std::uint32_t>(w, share, {.s = 0, .t = 3}, value, mine, side)
          .value_or("nothing");
    };
    const arcs best{{0, 1, 1}, {0, 2, 3}, {1, 3, 1}, {2, 3, 3}};
    EXPECT_EQ(said(4, best, {1, 1, 0, 0}), "nothing");
    EXPECT_EQ(said(4, {{0, 1, 2}, {0, 2, 2}, {1, 2, 1}, {1, 3, 1}, {2, 3, 3}}, {1, 1, 0, 0}),
              "flow 1 -> 2 is not within the capacity");
    EXPECT_EQ(said(4, {{0, 1, 1}, {0, 2, 3}, {1, 3, 1}, {2, 3, 2}}, {1, 1, 0, 0}),
              "vertex 2 has a net inflow of 1, expected 0");
    EXPECT_EQ(said(4, {{0, 3, 4}}, {1, 1, 0, 0}), "flow 0 -> 3 is not within the capacity");
    EXPECT_EQ(said(4, {{0, 1, 1}, {0, 1, 1}, {1, 3, 1}}, {1, 1, 0, 0}),
              "flow 0 -> 1 is listed twice or out of order");
    EXPECT_EQ(said(3, best, {1, 1, 0, 0}), "vertex 0 has a net inflow of -4, expected -3");
    EXPECT_EQ(said(4, best, {1, 0, 0, 0}), "the cut has a capacity of 5, the flow a value of 4");
    EXPECT_EQ(said(4, best, {0, 0, 0, 0}), "the cut does not separate the source from the sink");
    EXPECT_EQ(said(4, best, {1, 1, 1, 1}), "the cut does not separate the source from the sink");
    EXPECT_EQ(said(3, {{0, 2, 3}, {2, 3, 3}}, {1, 1, 0, 0}),
              "the cut has a capacity of 4, the flow a value of 3");
  });
}

}  // namespace
}  // namespace cairn::algo::maxflow_test
