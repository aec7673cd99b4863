// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/lcc.hpp>
#include <cairn/algo/ref/lcc.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

#include "algo/wrong_fact.hpp"

namespace cairn::algo::lcc_test {
namespace {

using support::plain_graph;
using coefficients = std::vector<double>;

coefficients all_of(world& w, const pgas::vertex_map<double>& map) {
  return w.all_gather_values<double>(map.local());
}

class Lcc : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Lcc, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// Denser than random_graph(), so that most triangles have edges in both directions.
TEST_P(Lcc, AgreesWithTheDefinitionOnDenseGraphs) {
  GetParam().run([](world& w) {
    random64 random(4);
    for (int i = 0; i < 8; ++i) {
      plain_graph g{"dense graph", 40, i % 4 != 0, {}};
      for (auto e = random.below(900); e > 0; --e) {
        g.edges.push_back({random.below(40), random.below(40)});
      }
      const auto share = support::share_of<std::uint64_t>(g, w.rank(), w.size());
      const auto r = lcc(w, share);
      EXPECT_EQ(all_of(w, r.coefficient), ref::clustering_coefficients(g.n, g.arcs()));
      EXPECT_EQ(verify_lcc(w, share, r.coefficient), std::nullopt);
    }
  });
}

TEST_P(Lcc, AMeanThatIsWrongIsFound) {
  GetParam().run([](world& w) {
    const auto g = support::share_of<std::uint32_t>(support::complete(9), w.rank(), w.size());
    auto r = lcc(w, g);
    EXPECT_EQ(wrong_fact(w, g, r), std::nullopt);
    r.mean = 0.5;
    EXPECT_EQ(wrong_fact(w, g, r), "the result has mean 0.5, expected 1");
  });
}

TEST(LccOfOne, CountsEdgesOfBothDirectionsBetweenTheNeighbors) {
  world w;
  const auto of = [&](bool directed, std::vector<graph::edge<std::uint64_t>> edges) {
    const plain_graph g{"", 4, directed, std::move(edges)};
    return all_of(w, lcc(w, support::share_of<std::uint32_t>(g, 0, 1)).coefficient);
  };
  EXPECT_EQ(of(false, {{0, 1}, {1, 2}, {2, 0}, {0, 3}}), (coefficients{1.0 / 3, 1, 1, 0}));
  EXPECT_EQ(of(true, {{0, 1}, {1, 2}, {2, 0}}), (coefficients{0.5, 0.5, 0.5, 0}));
  EXPECT_EQ(of(true, {{0, 1}, {1, 0}, {1, 2}, {2, 0}}), (coefficients{0.5, 0.5, 1, 0}));
  EXPECT_EQ(of(true, {{0, 1}, {0, 1}, {1, 2}, {2, 0}, {1, 1}}), (coefficients{0.5, 0.5, 0.5, 0}));
}

TEST(LccVerifier, CatchesEveryChangeOfACoefficient) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      random64 draw(7);
      for (int i = 0; i < 40; ++i) {
        const auto g = support::random_graph(draw());
        const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
        auto coefficient = lcc(w, share).coefficient;
        const auto v = draw.below(g.n);
        const auto right = all_of(w, coefficient)[v];
        for (const auto x : {right + 1e-6, right * 0.999999 - 1e-9, std::nan(""), -1.0}) {
          if (coefficient.owns(v)) coefficient.store(v, x);
          EXPECT_TRUE(verify_lcc(w, share, coefficient)) << g.name << " " << x;
        }
      }
    });
  }
}

// The row of a hub is searched for a few vertices: repeated edges and loops count once.
TEST(LccVerifier, SearchesLongRows) {
  random64 random(7);
  for (const bool directed : {false, true}) {
    plain_graph g{"hubs", 400, directed, {}};
    for (int e = 0; e < 1500; ++e) {
      const auto hub = random.below(2), v = random.below(g.n);
      g.edges.push_back(random.below(2) == 0 ? graph::edge<std::uint64_t>{hub, v}
                                             : graph::edge<std::uint64_t>{v, hub});
      if (e % 4 == 0) g.edges.push_back({random.below(g.n), v});
    }
    for (const rank_t ranks : {1, 3}) {
      support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
        const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
        auto r = lcc(w, share);
        EXPECT_EQ(all_of(w, r.coefficient), ref::clustering_coefficients(g.n, g.arcs()));
        EXPECT_EQ(verify_lcc(w, share, r.coefficient), std::nullopt);
      });
    }
  }
}

TEST(LccVerifier, SaysWhatItCounted) {
  world w;
  const auto share = support::share_of<std::uint32_t>(support::complete(4), 0, 1);
  pgas::vertex_map<double> coefficient(w, share.partition(), 1);
  EXPECT_EQ(verify_lcc(w, share, coefficient), std::nullopt);
  coefficient.store(2, 0.5);
  EXPECT_EQ(verify_lcc(w, share, coefficient),
            "vertex 2 has the coefficient 0.500000, but 6 edges among its 3 neighbors");
}

TEST(LccContract, DirectedEdgesCountBothWays) {
  world w;
  const auto out =
      support::share_of<std::uint32_t>(support::one_way_path(4), 0, 1, support::in_edges::no);
  EXPECT_THROW(static_cast<void>(lcc(w, out)), contract_violation);
}

}  // namespace
}  // namespace cairn::algo::lcc_test
