// SPDX-License-Identifier: Apache-2.0
#include "algo/dead_ends.hpp"

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>
#include <support/weighted_graph.hpp>

#include "algo/sssp_judging.hpp"

namespace cairn::algo::dead_ends_test {
namespace {

using support::plain_graph;

// Vertices with fewer edges than `end`, a self-loop counted once, by the list of edges.
std::vector<bool> with_fewer_edges(const plain_graph& g, std::uint64_t end) {
  std::vector<std::uint64_t> degree(g.n);
  for (const auto& e : g.edges) {
    ++degree[e.source];
    if (!g.directed && e.source != e.target) ++degree[e.target];
  }
  std::vector<bool> few;
  for (const auto d : degree) few.push_back(d < end);
  return few;
}

// A forest: each vertex has an edge to a smaller one, or none.
plain_graph tails(std::uint64_t n, random64& draw) {
  plain_graph g{"forest", n, false, {}};
  for (std::uint64_t v = 1; v < n; ++v) {
    if (draw.below(8) != 0) g.edges.push_back({v, draw.below(v)});
  }
  return g;
}

TEST(DeadEnds, AreTheVerticesWithoutAFurtherEdge) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 2, 1, [](world& w) {
      random64 draw(3);
      for (int i = 0; i < 40; ++i) {  // the last ones have several chunks of marks
        auto g = i < 38 ? support::random_graph(draw()) : tails(40'000, draw);
        g.directed = i % 2 == 0;
        const auto expected = with_fewer_edges(g, g.directed ? 1 : 2);
        const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
        const dead_ends all(w, share);
        const dead_ends::view ends(&all);
        for (auto v = share.out().first(); v < share.out().last(); ++v) {
          EXPECT_EQ(ends[v], expected[v]) << g.name << ", vertex " << v;
        }
      }
    });
  }
}

// Hub 0, and 10 vertices of which `leaves` are connected with the hub alone.
plain_graph wheel_with(std::uint64_t leaves) {
  plain_graph g{"leaves of a hub", 11, false, {}};
  for (std::uint64_t v = 1; v <= 10; ++v) g.edges.push_back({0, v});
  for (auto v = leaves + 1; v < 10; ++v) g.edges.push_back({v, v + 1});
  return g;
}

TEST(DeadEnds, AreLookedUpIfTheyAreMany) {
  world w;
  const auto lengths_of = [&](const plain_graph& g) {
    return measure_lengths(w, share_of<std::uint32_t>(g, 0, 1));
  };
  EXPECT_EQ(lengths_of(wheel_with(1)).ends, nullptr);
  EXPECT_NE(lengths_of(wheel_with(2)).ends, nullptr);
  auto isolated = support::complete(8);
  isolated.n = 1'000;
  EXPECT_EQ(lengths_of(isolated).ends, nullptr) << "no search reaches vertices without edges";
  isolated.directed = true;  // they may have in-edges
  EXPECT_NE(lengths_of(isolated).ends, nullptr);
}

// From a leaf, and with edges that look like a leaf's: parallel ones and self-loops.
TEST(DeadEnds, AreReachedAndLeft) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 2, 1, [](world& w) {
      random64 draw(5);
      plain_graph g{"leaves of a hub", 40, false, {}};
      for (std::uint64_t v = 1; v < g.n; ++v) g.edges.push_back({0, v});
      const auto n = g.n;
      g.n += 6;
      g.edges.push_back({1, n});  // a path beyond a leaf
      g.edges.push_back({n, n + 1});
      g.edges.push_back({2, n + 2});
      g.edges.push_back({2, n + 2});
      g.edges.push_back({n + 3, n + 3});
      g.edges.push_back({n + 4, n + 5});
      for (const auto kind : {weights::none, weights::whole, weights::real}) {
        for (const auto method :
             {sssp_method::delta, sssp_method::distributed_control, sssp_method::chaotic}) {
          for (const bool directed : {false, true}) {
            auto plain = g;
            plain.directed = directed;
            const auto weighed = support::weigh(std::move(plain), kind, 0, draw);
            const auto share = share_of<std::uint32_t>(weighed, w.rank(), w.size());
            ASSERT_NE(measure_lengths(w, share).ends, nullptr);
            for (const std::uint64_t source : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7},
                                               n + 1, n + 2, n + 3, n + 5}) {
              search_and_judge<std::uint32_t>(w, weighed, source,
                                              {.algorithm = method, .predecessors = true});
            }
          }
        }
      }
    });
  }
}

TEST(DeadEnds, AreNotExpanded) {
  world w;
  const auto g = support::star(1'000);
  const auto share = share_of<std::uint32_t>(g, 0, 1);
  for (const std::uint32_t source : {0u, 5u}) {
    const auto r = std::get<0>(sssp(w, share, source));
    const bool from_leaf = source != 0;
    EXPECT_EQ(r.relaxations, from_leaf ? g.n : g.n - 1);
    EXPECT_EQ(r.improvements, from_leaf ? 2u : 1u);
    for (std::uint64_t v = 0; v < g.n; ++v) {
      const auto expected = v == source ? 0u : v == 0 || !from_leaf ? 1u : 2u;
      EXPECT_EQ(r.distance.load(v), expected) << v;
    }
  }
}

}  // namespace
}  // namespace cairn::algo::dead_ends_test
