// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/pagerank.hpp>
#include <cairn/core/simulation.hpp>

#include <support/dist_graph.hpp>
#include <support/on_ranks.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo::predicted_time_test {
namespace {

using id = std::uint32_t;

support::plain_graph graph_of(std::uint64_t n, std::uint64_t edges) {
  support::plain_graph g{"random", n, false, {}};
  random64 draw(3);
  for (std::uint64_t i = 0; i < edges; ++i) g.edges.push_back({draw.below(n), draw.below(n)});
  return g;
}

struct counted {
  std::vector<std::uint64_t> messages;  // by level, of all ranks
  std::uint64_t edges = 0, pushed = 0;
  bool operator==(const counted&) const = default;
};

// A top-down search and three sweeps of pushes.
counted count(world& w, const support::plain_graph& g) {
  const auto share = support::share_of<id>(g, w.rank(), w.size());
  counted all;
  const bfs_options options{
      .activity = {.sent_filter = false}, .direction = traverse::direction::push, .trace = true};
  for (const auto& level : bfs<id>(w, share, 0, options).trace) {
    all.messages.push_back(w.sum(level.messages));
  }
  all.edges = w.sum(w.counters().total(obs::counter::edges));
  const auto before = w.counters().total(obs::counter::messages_sent);
  pagerank_options push{.variant = pagerank_variant::push};
  push.iterations = 3;
  push.tolerance = 0;
  static_cast<void>(pagerank<double>(w, share, push));
  all.pushed = w.sum(w.counters().total(obs::counter::messages_sent) - before);
  return all;
}

simulation_report predict(rank_t ranks, const cluster_costs& costs, const support::plain_graph& g,
                          counted& all) {
  return run_simulated({.ranks = ranks, .seed = 1, .costs = costs}, {}, [&](world& w) {
    const auto mine = count(w, g);
    if (w.rank() == 0) all = mine;
  });
}

TEST(PredictedSearch, SendsTheMessagesOfARealOneLevelByLevel) {
  const auto g = graph_of(500, 2000);
  for (const rank_t ranks : {2, 3, 8}) {
    counted simulated, real;
    predict(ranks, {}, g, simulated);
    support::on_ranks(ranks, 1, [&](world& w) {
      const auto mine = count(w, g);
      if (w.rank() == 0) real = mine;
    });
    EXPECT_GT(real.messages.size(), 3u);
    EXPECT_GT(real.pushed, 0u);
    EXPECT_EQ(real, simulated) << ranks << " ranks";
    // Every edge of the component is looked at from both ends; those to other ranks are messages.
    EXPECT_EQ(real.edges,
              [&] {
                counted alone;
                predict(1, {}, g, alone);
                return alone.edges;
              }())
        << ranks << " ranks";
  }
}

TEST(PredictedSearch, GainsByRanksUntilPacketsCostMore) {
  const auto g = graph_of(4000, 40'000);
  cluster_costs costs;
  costs.network = {.latency_ns = 500, .overhead_ns = 50, .gap_ns = 0, .byte_ns = 0};
  costs.edge_ns = 50;
  counted all;
  const auto one = predict(1, costs, g, all).simulated_ns;
  const auto eight = predict(8, costs, g, all).simulated_ns;
  EXPECT_LT(4 * eight, one);
  costs.network.overhead_ns = 1e6;
  EXPECT_GT(predict(8, costs, g, all).simulated_ns, one);
}

}  // namespace
}  // namespace cairn::algo::predicted_time_test
