// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/length_layout.hpp>
#include <cairn/algo/sssp.hpp>

#include <support/places.hpp>
#include <support/random_graphs.hpp>
#include <support/weighted_graph.hpp>

#include "algo/radius_search.hpp"
#include "algo/shortest_paths.hpp"
#include "algo/sssp_judging.hpp"

namespace cairn::algo::sssp_layout_test {
namespace {

using support::plain_graph;

// make soak judges 10,000 graphs.
class SsspEveryWay : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Rings, SsspEveryWay,
                         ::testing::ValuesIn(std::vector<support::place>{
                             {support::place::network::rings, 1, 1},
                             {support::place::network::rings, 1, 2},
                             {support::place::network::rings, 2, 1},
                             {support::place::network::rings, 3, 1},
                             {support::place::network::rings, 8, 1}}),
                         support::place_name);

TEST_P(SsspEveryWay, AgreesWithDijkstra) {
  const int graphs = support::num_random_graphs(12);
  GetParam().run([&](world& w) {
    random64 random(10);
    for (int i = 0; i < graphs; ++i) {
      const auto kind = static_cast<weights>(random.below(3));
      const auto g = support::weigh(support::random_graph(random()), kind, 0, random);
      const auto source = random.below(g.graph.n);
      for (const auto method : {sssp_method::automatic, sssp_method::delta,
                                sssp_method::distributed_control, sssp_method::chaotic}) {
        sssp_options opt{.algorithm = method};
        if (random.below(2) == 0) opt.delta = static_cast<double>(1 + random.below(16)) / 4;
        opt.activity.sort_received = random.below(2) == 0;
        for (const auto how : {layout::none, layout::bins}) {
          if (how != layout::none && (w.size() > 1 || kind == weights::none)) continue;
          search_and_judge<std::uint32_t>(w, g, source, opt, how);
        }
      }
    }
  });
}

// Half of the vertices are reached early, so that a radius is set; a part is out of reach.
class SsspRadius : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(OneRank, SsspRadius,
                         ::testing::ValuesIn(std::vector<support::place>{
                             {support::place::network::rings, 1, 1},
                             {support::place::network::rings, 1, 2},
                             {support::place::network::rings, 1, 3},
                             {support::place::network::rings, 1, 4},
                             {support::place::network::simulated, 1, 2},
                             {support::place::network::simulated, 1, 3}}),
                         support::place_name);

TEST_P(SsspRadius, AgreesWithDijkstra) {
  GetParam().run([](world& w) {
    random64 random(5);
    for (int i = 0; i < 24; ++i) {
      plain_graph plain{"dense random graph", 2'000 + random.below(2'000), i % 2 == 0, {}};
      const auto connected = plain.n - (i % 3 == 0 ? plain.n / 2 : 3);
      for (auto left = 8 * connected; left > 0; --left) {
        plain.edges.push_back({random.below(connected), random.below(connected)});
        if (i % 3 != 0) continue;
        plain.edges.push_back({connected + random.below(plain.n - connected),
                               connected + random.below(plain.n - connected)});
      }
      if (i % 8 >= 4) {  // leaves
        const auto first = plain.n;
        plain.n += first / 2;
        for (auto v = first; v < plain.n; ++v) plain.edges.push_back({random.below(connected), v});
      }
      auto g =
          support::weigh(std::move(plain), i % 4 < 2 ? weights::whole : weights::real, 1, random);
      for (auto& e : g.edges)
        e.weight = static_cast<double>(random.below(1'000)) / (i % 4 < 2 ? 1 : 4);
      sssp_options opt{.predecessors = i % 5 == 0};
      if (i % 2 == 0) opt.delta = static_cast<double>(1 + random.below(64));
      if (i == 1 || i == 3) opt.delta = 1e13;  // the first bucket is further than any distance
      if (i == 5) opt.delta = 1e-17;           // most distances are in the last possible bucket
      if (i == 7) opt.delta = 1e-15;
      if (i >= 20) opt.activity.mechanism = activity::mechanism::atomics;  // one table of distances
      search_and_judge<std::uint32_t>(w, g, random.below(connected), opt, layout::bins);
    }
  });
}

// Nothing is heavier, but lighter edges may follow in the row.
TEST(SsspLayout, RowsDoNotEndAtTheHeaviestWeight) {
  world w;
  for (const auto kind : {weights::whole, weights::real}) {
    const double heaviest = kind == weights::whole ? 2147483647 : HUGE_VAL;
    plain_graph plain{"star", 5, true, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}};
    const weighted_graph g{
        std::move(plain), kind, {{0, 1, heaviest}, {0, 2, 1}, {0, 3, heaviest}, {0, 4, 2}}};
    for (const auto how : {layout::none, layout::bins}) {
      for (const auto method : {sssp_method::delta, sssp_method::distributed_control}) {
        search_and_judge<std::uint32_t>(w, g, 0, {.algorithm = method, .delta = 3.0}, how);
      }
    }
  }
}

// When the limit is set another worker may be at such an entry, whose edges nobody relaxes again.
TEST(SsspRadius, LeavesOutNoEdgesOfEntriesThatMayLieBeyondIt) {
  constexpr auto all = traverse::no_weight<std::int32_t>;
  const search_range<std::uint32_t> within{-1, 12, 10};  // the last bucket ends before 11
  EXPECT_EQ(within.max_weight(9), 3);
  EXPECT_EQ(within.max_weight(11), all);
  EXPECT_EQ(within.max_weight(12), all);
  EXPECT_EQ(within.max_weight(13), all);
}

weighted_graph random_graph_of_255_weights() {
  random64 random(9);
  plain_graph plain{"random graph", 4'000, false, {}};
  for (int i = 0; i < 64'000; ++i)
    plain.edges.push_back({random.below(4'000), random.below(4'000)});
  auto g = support::weigh(std::move(plain), weights::whole, 1, random);
  for (auto& e : g.edges) e.weight = static_cast<double>(1 + random.below(255));
  return g;
}

TEST(SsspLayout, LeavesOutLongEdges) {
  world w;
  const auto g = random_graph_of_255_weights();
  const auto share = share_of<std::uint32_t>(g, 0, 1);
  const auto lengths = measure_lengths(w, share);
  const length_layout<std::uint32_t> bins(w, share);
  const auto plainly = std::get<0>(sssp(w, share, std::uint32_t{7}, {}, lengths));
  const auto within = std::get<0>(sssp(w, share, std::uint32_t{7}, {}, lengths, &bins));
  EXPECT_EQ(all_of(w, within.distance), all_of(w, plainly.distance));
  EXPECT_LT(2 * within.relaxations, plainly.relaxations);
  EXPECT_EQ(plainly.radii, 0u);
  EXPECT_GT(within.radii, 0u);
}

// Without a layout, sssp() uses radii only for large graphs.
TEST(SsspRadius, LeavesOutLongEdgesOfRowsWithoutBins) {
  using search = shortest_paths<std::uint32_t, std::uint32_t>;
  for (const int workers : {1, 2, 3}) {
    world w(workers);
    const auto share = share_of<std::uint32_t>(random_graph_of_255_weights(), 0, 1);
    const auto lengths = measure_lengths(w, share);
    const auto plainly = std::get<0>(sssp(w, share, std::uint32_t{7}, {}, lengths));
    const std::optional<search::edges> in(share.in());
    for (const bool tables : {false, true}) {
      if (tables && !search::may_use_tables(w, {})) continue;
      search s(w, share, search::edges(share.out()), {}, lengths.longest, lengths.delta, tables);
      s.start(7);
      radius_search<std::uint32_t, std::uint32_t>(s, share, in, 7, lengths.delta).run();
      const auto within = s.result(sssp_method::distributed_control, lengths.delta, 0);
      ASSERT_TRUE(within);
      EXPECT_EQ(all_of(w, within->distance), all_of(w, plainly.distance)) << workers << " workers";
      EXPECT_LT(2 * within->relaxations, plainly.relaxations) << workers << " workers";
    }
  }
}

// Worker 0 sets a radius of 60 in bucket 0 and lowers it to 20 in bucket 10. In between, worker 1
// expands vertices in buckets 21 to 30 and skips their edges that lead beyond 60. Only pulls from
// within the first radius find these.
TEST(SsspRadius, PullsFromVerticesBeyondALoweredRadius) {
  using search = shortest_paths<std::uint32_t, std::uint32_t>;
  constexpr std::uint64_t near = 10, early = 21, hubs = 31, leaves = 131, late = 7'131;
  constexpr std::uint64_t num_leaves = 7'000;  // enough relaxations for another look at the sample
  constexpr std::uint64_t num_late = 100;
  weighted_graph g{{"two ways to hubs", late + num_late, true, {}}, weights::whole, {}};
  const auto connect = [&](std::uint64_t u, std::uint64_t v, double weight, int times = 1) {
    for (; times > 0; --times) g.edges.push_back({u, v, weight});
  };
  for (std::uint64_t v = 0; v < near; ++v) connect(v, v + 1, 1, 20);
  connect(0, early, 21);
  for (auto v = early; v + 1 < hubs; ++v) connect(v, v + 1, 1);
  for (std::uint64_t i = 0; i < num_late; ++i) connect(early + i % (hubs - early), late + i, 50);
  for (auto hub = hubs; hub < leaves; ++hub) {
    connect(0, hub, 60, 10);
    connect(near, hub, 10);
    for (std::uint64_t i = 0; i < num_leaves; i += 10) connect(hub, leaves + i, 1'000);
  }
  for (std::uint64_t i = 0; i < num_leaves; ++i) connect(near, leaves + i, 45);
  const auto expected = ref::dijkstra(g.graph.n, true, g.edges, 0);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    support::on_simulated_ranks(1, 2, seed, [&](world& w) {
      const auto share = share_of<std::uint32_t>(g, 0, 1);
      const auto bins = layout_of(w, share, layout::bins);
      search s(w, share, bins->out<std::int32_t>(share), {}, 1'000, 1,
               seed > 2);  // tables of their own
      s.start(0);
      s.distance.store(early, 21);
      s.work.add(worker_t(1), {early, 21});
      const auto in = bins->in<std::int32_t>(share);
      radius_search<std::uint32_t, std::uint32_t> by_radii(s, share, in, 0, 1);
      by_radii.run();
      EXPECT_EQ(by_radii.num_first_radii(), 2u) << "seed " << seed;
      const auto found = s.result(sssp_method::distributed_control, 1, 0);
      ASSERT_TRUE(found);
      EXPECT_EQ(all_of(w, found->distance), expected) << "seed " << seed;
    });
  }
}

}  // namespace
}  // namespace cairn::algo::sssp_layout_test
