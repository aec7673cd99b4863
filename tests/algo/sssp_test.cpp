// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/ref/sssp.hpp>
#include <cairn/algo/sssp.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>

#include <support/activity_options.hpp>
#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>
#include <support/refusal.hpp>
#include <support/weighted_graph.hpp>

#include "algo/reach.hpp"
#include "algo/sssp_judging.hpp"

namespace cairn::algo::sssp_test {
namespace {

using support::plain_graph;
// The same draws on every rank.
void search_at_random(world& w, plain_graph plain, random64& random) {
  const auto n = plain.n;
  const auto g = support::weigh(std::move(plain), static_cast<weights>(random.below(3)), 0, random);
  sssp_options opt{.activity = support::random_activity(random, w.workers()),
                   .algorithm = static_cast<sssp_method>(random.below(4))};
  if (random.below(2) == 0) opt.delta = static_cast<double>(1 + random.below(16)) / 4;
  opt.predecessors = random.below(2) == 0;
  const auto source = random.below(n);
  const auto kind = static_cast<layout>(random.below(2));
  if (random.below(2) == 0) {
    search_and_judge<std::uint32_t>(w, g, source, opt, kind);
  } else {
    search_and_judge<std::uint64_t>(w, g, source, opt, kind);
  }
}

class Sssp : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Sssp, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Sssp, AgreesWithDijkstraOnCornerGraphs) {
  GetParam().run([](world& w) {
    random64 random(1);
    for (const auto& g : support::corner_graphs()) search_at_random(w, g, random);
  });
}

TEST_P(Sssp, AgreesWithDijkstraOnRandomGraphs) {
  const int graphs = support::num_random_graphs(GetParam().simulated() ? 60 : 12);
  GetParam().run([&](world& w) {
    random64 random(2);
    for (int i = 0; i < graphs; ++i) search_at_random(w, support::random_graph(random()), random);
  });
}

// Enough vertices for queues of several chunks, and for workers that give work away.
TEST_P(Sssp, AgreesWithDijkstraOnLargerGraphs) {
  GetParam().run([](world& w) {
    random64 random(3);
    for (const auto method :
         {sssp_method::delta, sssp_method::distributed_control, sssp_method::chaotic}) {
      const auto g = support::weigh(support::grid(30, 50), weights::whole, 1, random);
      search_and_judge<std::uint32_t>(w, g, 700, {.algorithm = method});
      const auto h =
          support::weigh(support::random_graph(random(), 3'000), weights::real, 0, random);
      search_and_judge<std::uint64_t>(w, h, 0, {.algorithm = method});
    }
  });
}

// A narrow window of buckets, and distances of which few lie in it.
TEST_P(Sssp, TakesWeightsOfAnySize) {
  GetParam().run([](world& w) {
    random64 random(4);
    auto g = support::weigh(support::grid(6, 9), weights::whole, 0, random);
    for (auto& e : g.edges) {
      const auto digits = random.below(31);
      e.weight = static_cast<double>(random.below(std::uint64_t{1} << digits));
    }
    for (const auto method :
         {sssp_method::delta, sssp_method::distributed_control, sssp_method::chaotic}) {
      search_and_judge<std::uint32_t>(w, g, 5, {.algorithm = method});
    }
    // A bucket for each distance.
    search_and_judge<std::uint32_t>(w, g, 5, {.algorithm = sssp_method::delta, .delta = 1.0});
  });
}

// A small search may run on one of the workers.
TEST(SsspOfOneRank, IsRightSharedOrOnOneWorker) {
  const auto search_again_and_again = [](world& w) {
    random64 random(5);
    // Of shorter searches the times are not compared.
    const auto g = support::weigh(support::grid(40, 40), weights::whole, 1, random);
    const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
    const auto lengths = measure_lengths(w, share);
    int plain = 0, others = 0;
    for (int i = 0; i < 24; ++i) {
      const auto source = random.below(g.graph.n);
      const sssp_options opt{.algorithm = static_cast<sssp_method>(i % 4),
                             .predecessors = i % 3 == 0};
      const auto found = sssp(w, share, static_cast<std::uint32_t>(source), opt, lengths);
      const auto& r = std::get<sssp_result<std::uint32_t>>(found);
      const auto expected = ref::dijkstra(g.graph.n, g.graph.directed, g.edges, source);
      EXPECT_EQ(all_of(w, r.distance), expected);
      if (r.predecessor) {
        const auto tree = support::whole(w, *r.predecessor);
        EXPECT_EQ(ref::tree_violation(g.graph.directed, g.edges, source, expected, tree), "");
      }
      ++(r.ran.mechanism == activity::mechanism::plain ? plain : others);
    }
    EXPECT_GT(plain, 0);
    EXPECT_GT(others, 0);
    EXPECT_EQ(w.workers(), 2);
  };
  support::on_ranks(1, 2, search_again_and_again, {.small_work_alone = true});
}

TEST(SsspDistances, HaveMoreBitsWhereTheyNeedThem) {
  constexpr auto max_weight = 2147483647.0;
  weighted_graph g{support::one_way_path(9), weights::whole, {}};
  for (std::uint64_t v = 1; v < 9; ++v) g.edges.push_back({v - 1, v, max_weight});
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
      const auto found = sssp(w, share, std::uint32_t{0});
      ASSERT_TRUE(std::holds_alternative<sssp_result<std::uint64_t>>(found));
      const auto& r = std::get<sssp_result<std::uint64_t>>(found);
      EXPECT_EQ(all_of(w, r.distance)[8], 8 * max_weight);
      const auto near = sssp(w, share, std::uint32_t{7});
      EXPECT_TRUE(std::holds_alternative<sssp_result<std::uint32_t>>(near));
    });
  }
}

// The last vertex is a dead end. Twice the largest weight still fits, and nothing is added to it.
TEST(SsspDistances, OfDeadEndsMayBeTheLargest) {
  constexpr auto max_weight = 2147483647.0;
  plain_graph path{"path of three", 3, false, {{0, 1}, {1, 2}}};
  const weighted_graph g{std::move(path), weights::whole, {{0, 1, max_weight}, {1, 2, max_weight}}};
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      search_and_judge<std::uint32_t>(w, g, 0, {.predecessors = true});
      const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
      const auto found = sssp(w, share, std::uint32_t{0});
      if (ranks == 1) {
        ASSERT_TRUE(std::holds_alternative<sssp_result<std::uint32_t>>(found));
      }
    });
  }
}

// Ten paths from a clique. One worker follows them in both directions from a vertex of one.
TEST(SsspPaths, AreCountedLikeEntries) {
  random64 random(8);
  auto plain = support::complete(10);
  plain.n = 2'010;
  for (std::uint64_t v = 10; v < plain.n; ++v) plain.edges.push_back({v - 10, v});
  const auto g = support::weigh(std::move(plain), weights::whole, 1, random);
  world w;
  const auto share = share_of<std::uint32_t>(g, 0, 1);
  for (const double delta : {1.0, 4.0, 1e6}) {
    search_and_judge<std::uint32_t>(w, g, 1'000, {.delta = delta, .predecessors = true});
    const auto lowered = [&] {
      return w.counters().total(obs::counter::operators) -
             w.counters().total(obs::counter::operators_failed);
    };
    const auto before = lowered();
    const auto r = std::get<0>(sssp(w, share, std::uint32_t{1'000}, {.delta = delta}));
    EXPECT_EQ(r.improvements, lowered() - before + 1) << delta;
  }
}

// One worker and buckets of one distance: each edge is relaxed once.
TEST(SsspPaths, AreFollowedInTheOrderOfDistances) {
  random64 random(9);
  world w;
  for (int i = 0; i < 200; ++i) {
    plain_graph plain{"short rows", 20 + random.below(300), true, {}};
    const auto long_rows = random.below(4);  // in 16
    weighted_graph g{std::move(plain), weights::whole, {}};
    for (std::uint64_t v = 0; v < g.graph.n; ++v) {
      const bool is_long = random.below(16) < long_rows;
      for (auto left = is_long ? 6 : 1 + random.below(3); left > 0; --left) {
        const auto near = (v + 1 + random.below(4)) % g.graph.n;
        const auto u = random.below(8) == 0 ? random.below(g.graph.n) : near;
        g.graph.edges.push_back({v, u});
        g.edges.push_back({v, u, static_cast<double>(1 + random.below(i % 2 == 0 ? 4 : 100))});
      }
    }
    const auto share = share_of<std::uint32_t>(g, 0, 1);
    const auto r = std::get<0>(sssp(w, share, std::uint32_t{0}, {.delta = 1.0}));
    const auto reached = count_reach(w, share.out(), 0, nullptr, r.distance);
    EXPECT_EQ(r.relaxations, reached.edges) << "graph " << i;
  }
}

TEST(SsspDistances, LeaveOutEdgesOfInfiniteLength) {
  world w;
  weighted_graph g{
      support::one_way_path(4), weights::real, {{0, 1, 0.5}, {1, 2, HUGE_VAL}, {2, 3, 1}}};
  search_and_judge<std::uint32_t>(w, g, 0, {});
}

std::string refusal_of(world& w, const weighted_graph& g) {
  const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
  return support::refusal_of([&] { static_cast<void>(sssp(w, share, std::uint32_t{0})); });
}

TEST(SsspContract, RefusesNegativeWeightsByTheirEdge) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      const auto refused = [&](weights kind, double weight) {
        return refusal_of(
            w, {support::one_way_path(4), kind, {{0, 1, 1}, {1, 2, weight}, {2, 3, -7}}});
      };
      EXPECT_EQ(refused(weights::whole, -3),
                "the edge from 1 to 2 has weight -3, expected a length of at least 0");
      EXPECT_EQ(refused(weights::real, -0.25),
                "the edge from 1 to 2 has weight -0.25, expected a length of at least 0");
      EXPECT_EQ(refused(weights::real, std::nan("")),
                "the edge from 1 to 2 has weight nan, expected a length of at least 0");
    });
  }
}

TEST(SsspContract, RefusesWeightsWhoseSumsMayExceedTheLargestDouble) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      const auto said = [&](double weight) {
        return refusal_of(
            w,
            {support::one_way_path(4), weights::real, {{0, 1, 1}, {1, 2, weight}, {2, 3, weight}}});
      };
      EXPECT_EQ(said(5e307), "accepted");
      EXPECT_EQ(said(8e307),
                "the edge from 1 to 2 has weight 8e+307: the length of a path of 3 such edges "
                "exceeds the largest double");
    });
  }
}

TEST(SsspContract, RefusesWhatIsNoSourceAndNoWidth) {
  world w;
  const auto g = share_of<std::uint32_t>(support::path(4), 0, 1);
  EXPECT_THROW(static_cast<void>(sssp(w, g, std::uint32_t{4})), contract_violation);
  for (const auto delta : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    EXPECT_THROW(static_cast<void>(sssp(w, g, std::uint32_t{0}, {.delta = delta})), usage_error);
  }
}

// With edges of weight 64.
double chosen_delta(world& w, plain_graph plain) {
  support::weighted_graph g{std::move(plain), weights::whole, {}};
  for (const auto& e : g.graph.edges) g.edges.push_back({e.source, e.target, 64});
  return measure_lengths(w, share_of<std::uint32_t>(g, w.rank(), w.size())).delta;
}

TEST_P(Sssp, ChoosesWideBucketsWhereFewEdgesCloseACycle) {
  GetParam().run([](world& w) {
    // 1024 * 64 / 2, and without the factor 64 / 2
    EXPECT_EQ(chosen_delta(w, support::path(3'000)), 32'768);
    auto ring = support::path(3'000);
    ring.edges.push_back({2'999, 0});
    EXPECT_EQ(chosen_delta(w, ring), 32'768);
    const auto ladder = support::grid(2, 1'500);  // every third edge closes a cycle: 9 / 3 * 64 / 3
    EXPECT_EQ(chosen_delta(w, ladder), 64);
    EXPECT_EQ(chosen_delta(w, support::grid(50, 50)), 16);
    EXPECT_EQ(chosen_delta(w, support::complete(65)), 1);
    // The degree of a hub with a large part of all edges does not count.
    auto wheel = support::star(3'000);
    EXPECT_EQ(chosen_delta(w, wheel), 32'768);
    for (std::uint64_t v = 1; v < wheel.n; ++v) {
      wheel.edges.push_back({v, v + 1 < wheel.n ? v + 1 : 1});
    }
    // every second edge closes a cycle: 4 / 3 * 64 / sqrt(3 * 4)
    EXPECT_EQ(chosen_delta(w, wheel), 16);
  });
}

TEST(SsspDelta, IsThatOfAnUndirectedGraphIfEveryEdgeHasAnEdgeBack) {
  world w;
  for (auto g : {support::path(3'000), support::grid(2, 1'500), support::star(1'025)}) {
    const auto undirected = chosen_delta(w, g);
    g.directed = true;
    const auto edges = g.edges;
    for (const auto& e : edges) g.edges.push_back({e.target, e.source});
    EXPECT_EQ(chosen_delta(w, g), undirected) << g.name;
  }
  EXPECT_EQ(chosen_delta(w, support::one_way_path(3'000)), 65'536);
}

// Most vertices are not reached, and the others are linked closely.
TEST(SsspDelta, IsNotWideBecauseOfVerticesWithoutInEdges) {
  world w;
  auto g = support::complete(60);
  g.directed = true;
  g.n = 30'000;
  for (std::uint64_t v = 60; v < g.n; ++v) g.edges.push_back({v, v % 60});
  EXPECT_LE(chosen_delta(w, g), 16);
  // A hub with edges to and from each of 10,000, between which there is one edge each.
  plain_graph hub{"hub", 80'000, true, {}};
  for (std::uint64_t v = 1; v <= 10'000; ++v) {
    for (const auto& [from, to] : {std::pair{0ul, v}, {v, 0ul}, {v, v % 10'000 + 1}}) {
      hub.edges.push_back({from, to});
    }
  }
  for (std::uint64_t v = 10'001; v < hub.n; ++v) hub.edges.push_back({v, 0});
  EXPECT_LE(chosen_delta(w, hub), 64);
}

TEST(SsspCounts, ARightOrderWastesNothing) {
  world w;
  random64 random(6);
  const auto g = support::weigh(support::grid(20, 20), weights::whole, 1, random);
  const auto share = share_of<std::uint32_t>(g, 0, 1);
  const auto r = std::get<0>(sssp(w, share, std::uint32_t{0}, {.delta = 1.0}));  // of least weights
  EXPECT_EQ(r.relaxations, share.out().num_edges());
  EXPECT_EQ(w.counters().total(obs::counter::edges), r.relaxations);
  const auto any =
      std::get<0>(sssp(w, share, std::uint32_t{0}, {.algorithm = sssp_method::chaotic}));
  EXPECT_GT(any.relaxations, r.relaxations);
  EXPECT_GT(any.improvements, r.improvements);
}

}  // namespace
}  // namespace cairn::algo::sssp_test
