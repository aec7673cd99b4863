// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/ref/triangles.hpp>
#include <cairn/algo/triangles.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo::triangles_test {
namespace {

using support::plain_graph;

// The modes that can run there.
std::vector<triangles_mode> modes(const world& w, const plain_graph& g) {
  std::vector all{triangles_mode::automatic, triangles_mode::marks, triangles_mode::matrix};
  if (w.size() == 1 && !g.directed) all.push_back(triangles_mode::natural);
  return all;
}

template <class Id>
void count_and_judge(world& w, const plain_graph& g, const ref::triangle_counts& expected,
                     const triangles_options& opt) {
  const auto share = support::share_of<Id>(g, w.rank(), w.size());
  const auto r = triangles(w, share, opt);
  const auto run_name = g.name + ", mode " + std::to_string(static_cast<int>(r.mode));
  EXPECT_EQ(r.total, expected.total) << run_name;
  EXPECT_NE(r.mode, triangles_mode::automatic);
  EXPECT_NE(r.ran.why, "");
  ASSERT_EQ(r.of_vertex.has_value(), opt.per_vertex);
  if (!opt.per_vertex) return;
  EXPECT_EQ(support::whole(w, *r.of_vertex), expected.of_vertex) << run_name;
}

void count_at_random(world& w, const plain_graph& g, random64& random) {
  const auto expected = ref::count_triangles(g.n, g.arcs());
  const auto all = modes(w, g);
  const triangles_options opt{.per_vertex = random.below(2) == 0,
                              .mode = all[random.below(all.size())]};
  if (random.below(2) == 0) {
    count_and_judge<std::uint32_t>(w, g, expected, opt);
  } else {
    count_and_judge<std::uint64_t>(w, g, expected, opt);
  }
}

// Denser than random_graph, so that rows are longer than registers and words of the matrix.
plain_graph dense_graph(std::uint64_t seed, std::uint64_t n, std::uint64_t edges) {
  random64 random(seed);
  plain_graph g{"dense graph of seed " + std::to_string(seed), n, random.below(2) == 0, {}};
  for (; edges > 0; --edges) {
    const auto a = random.below(n);
    g.edges.push_back({a, random.below(2) == 0 ? random.below(n) : random.below(a + 1)});
  }
  return g;
}

// Edges between vertices that are at most `reach` apart: rows of any length below 2 * reach.
plain_graph near_graph(std::uint64_t seed, std::uint64_t n, std::uint64_t reach, double share) {
  random64 random(seed);
  plain_graph g{"near graph of seed " + std::to_string(seed), n, false, {}};
  for (std::uint64_t v = 1; v < n; ++v) {
    for (std::uint64_t u = v < reach ? 0 : v - reach; u < v; ++u) {
      if (random.below(1000) < static_cast<std::uint64_t>(1000 * share)) g.edges.push_back({u, v});
    }
  }
  return g;
}

// Some vertices, of any size of id, are neighbors of half of all.
plain_graph hub_graph(std::uint64_t n, std::uint64_t hubs) {
  random64 random(1);
  plain_graph g{"hub graph", n, false, {}};
  for (std::uint64_t hub = n / hubs / 2; hub < n; hub += n / hubs) {
    for (std::uint64_t v = 0; v < n; ++v) {
      if (random.below(2) == 0) g.edges.push_back({hub, v});
    }
  }
  return g;
}

class Triangles : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Triangles, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Triangles, AreCountedOnCornerGraphs) {
  GetParam().run([](world& w) {
    for (const auto& g : support::corner_graphs()) {
      const auto expected = ref::count_triangles(g.n, g.arcs());
      for (const auto mode : modes(w, g)) {
        count_and_judge<std::uint32_t>(w, g, expected, {.per_vertex = true, .mode = mode});
        count_and_judge<std::uint32_t>(w, g, expected, {.mode = mode});
        count_and_judge<std::uint64_t>(w, g, expected, {.mode = mode});
      }
    }
  });
}

TEST_P(Triangles, AreCountedOnRandomGraphs) {
  const int graphs = support::num_random_graphs(GetParam().simulated() ? 100 : 20);
  GetParam().run([&](world& w) {
    random64 random(1);
    for (int i = 0; i < graphs; ++i) count_at_random(w, support::random_graph(random()), random);
  });
}

TEST_P(Triangles, AreCountedWhereRowsAreLong) {
  GetParam().run(
      [](world& w) {
        random64 random(2);
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
          count_at_random(w, dense_graph(seed, 150, 600 * seed), random);
        }
      },
      {.coalesce_bytes = 64, .coalesce_age_ns = 0, .pending_bytes = 1000});
}

TEST_P(Triangles, AreCountedAlongShortRowsAndHubs) {
  GetParam().run([](world& w) {
    const auto mode = w.size() == 1 ? triangles_mode::natural : triangles_mode::automatic;
    const auto judge = [&](const plain_graph& g) {
      const auto expected = ref::count_triangles(g.n, g.arcs());
      count_and_judge<std::uint32_t>(w, g, expected, {.mode = mode});
      count_and_judge<std::uint32_t>(w, g, expected, {.per_vertex = true, .mode = mode});
      count_and_judge<std::uint64_t>(w, g, expected, {.mode = mode});
    };
    for (const std::uint64_t reach : {2, 7, 9, 20, 40}) {
      auto g = near_graph(reach, 300, reach, .5);
      judge(g);
      for (std::uint64_t v = 0; v < g.n; ++v) g.edges.push_back({v, 200});  // and a self-loop
      judge(g);
    }
  });
}

TEST_P(Triangles, OfTheVerifierAreTheSame) {
  GetParam().run([](world& w) {
    random64 random(3);
    for (int i = 0; i < 10; ++i) {
      const auto g = support::random_graph(random());
      const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
      const auto r = triangles(w, share, {.per_vertex = true});
      EXPECT_EQ(verify_triangles(w, share, r.total, &*r.of_vertex), std::nullopt) << g.name;
    }
  });
}

TEST(TrianglesVerifier, CatchesWrongCounts) {
  const auto g = support::complete(9);
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
      auto r = triangles(w, share, {.per_vertex = true});
      EXPECT_EQ(verify_triangles(w, share, 83), "there are 84 triangles, not 83");
      if (r.of_vertex->owns(5)) r.of_vertex->store(5, 29);
      EXPECT_EQ(verify_triangles(w, share, 84, &*r.of_vertex),
                "vertex 5 is in 28 triangles, not in 29");
      if (r.of_vertex->owns(5)) r.of_vertex->store(5, 28);
      EXPECT_EQ(verify_triangles(w, share, 84, &*r.of_vertex), std::nullopt);
    });
  }
}

// Twice a count, and the sum of all counts, are those of a triangle modulo 2^64.
TEST(TrianglesVerifier, RefusesCountsThatWrapAround) {
  constexpr auto half = std::uint64_t{1} << 63;
  world w;
  const auto g = support::share_of<std::uint32_t>(support::complete(3), 0, 1);
  pgas::vertex_map<std::uint64_t> counts(w, g.partition(), 1);
  counts.store(0, half + 1);
  counts.store(1, half + 1);
  EXPECT_EQ(verify_triangles(w, g, 1, &counts),
            "vertex 0 is in 1 triangles, not in 9223372036854775809");
}

TEST(TrianglesJudge, CountsByHand) {
  const auto counts = ref::count_triangles(4, {{0, 1}, {1, 2}, {2, 0}, {0, 1}, {3, 3}, {2, 3}});
  EXPECT_EQ(counts.total, 1u);
  EXPECT_EQ(counts.of_vertex, (std::vector<std::uint64_t>{1, 1, 1, 0}));
}

// Short rows meet a hub's long row, which is searched, and edges are repeated: in no row, in a
// short one, in the hub's, and among the ids that are sought in the hub's.
TEST(TrianglesInNaturalOrder, AreCountedAtHubsAndAlongRepeatedEdges) {
  world w(2);
  constexpr std::uint64_t hub = 1500;
  const auto judge = [&](const plain_graph& g) {
    const auto expected = ref::count_triangles(g.n, g.arcs());
    for (const bool per_vertex : {false, true}) {
      const triangles_options opt{.per_vertex = per_vertex, .mode = triangles_mode::natural};
      count_and_judge<std::uint32_t>(w, g, expected, opt);
      count_and_judge<std::uint64_t>(w, g, expected, opt);
    }
  };
  auto g = near_graph(1, 3000, 20, .2);
  random64 random(2);
  for (std::uint64_t v = 0; v < g.n; ++v) {
    if (v != hub && random.below(2) == 0) g.edges.push_back({v, hub});
  }
  judge(g);
  using edge = graph::edge<std::uint64_t>;
  for (const edge e : {edge{10, 11}, edge{3, hub}, edge{1498, 1502}}) {
    auto repeated = g;
    for (int i = 0; i < 2; ++i) repeated.edges.push_back(e);
    judge(repeated);
  }
  for (std::size_t i = 0, n = g.edges.size(); i < n; ++i) g.edges.push_back(g.edges[i]);
  judge(g);
}

TEST(TrianglesMode, IsChosenByCost) {
  world w;
  const auto mode_of = [&](const plain_graph& g) {
    return triangles(w, support::share_of<std::uint32_t>(g, 0, 1)).mode;
  };
  EXPECT_EQ(mode_of(support::grid(60, 60)), triangles_mode::natural);
  EXPECT_EQ(mode_of(support::path(100'000)), triangles_mode::natural);
  auto twice = support::grid(60, 60);
  for (std::size_t i = 0, n = twice.edges.size(); i < n; ++i) twice.edges.push_back(twice.edges[i]);
  EXPECT_EQ(mode_of(twice), triangles_mode::natural);
  EXPECT_EQ(mode_of(support::star(500)), triangles_mode::natural);  // the hub has a small id
  EXPECT_EQ(mode_of(near_graph(1, 2000, 30, .6)), triangles_mode::natural);
  EXPECT_EQ(mode_of(hub_graph(3000, 10)), triangles_mode::marks);
  EXPECT_EQ(mode_of(support::complete(300)), triangles_mode::matrix);
}

TEST(TrianglesMode, OfSeveralRanksIsTheSameOnAll) {
  support::on_simulated_ranks(3, 1, 1, [](world& w) {
    const auto mode_of = [&](const plain_graph& g) {
      return triangles(w, support::share_of<std::uint32_t>(g, w.rank(), w.size())).mode;
    };
    EXPECT_EQ(mode_of(support::grid(60, 60)), triangles_mode::marks);
    EXPECT_EQ(mode_of(hub_graph(3000, 10)), triangles_mode::marks);
    EXPECT_EQ(mode_of(support::complete(300)), triangles_mode::matrix);
  });
}

TEST(TrianglesContract, SaysWhatCannotBe) {
  world w;
  const auto g = support::one_way_path(4);
  const auto out = support::share_of<std::uint32_t>(g, 0, 1, support::in_edges::no);
  EXPECT_THROW(static_cast<void>(triangles(w, out)), contract_violation);
  const auto both = support::share_of<std::uint32_t>(g, 0, 1);
  EXPECT_THROW(static_cast<void>(triangles(w, both, {.mode = triangles_mode::natural})),
               contract_violation);
  support::on_simulated_ranks(2, 1, 1, [](world& several) {
    const auto share = support::share_of<std::uint32_t>(support::path(9), several.rank(), 2);
    EXPECT_THROW(static_cast<void>(triangles(several, share, {.mode = triangles_mode::natural})),
                 contract_violation);
  });
}

// The largest vertex's rows are cut into ranges between which cancel() takes effect.
TEST(TrianglesCancel, EndsAndTheNextRunIsRight) {
  world w(2);
  const auto share = support::share_of<std::uint32_t>(support::complete(80), 0, 1);
  for (const auto mode : {triangles_mode::natural, triangles_mode::marks, triangles_mode::matrix}) {
    w.cancel();
    EXPECT_THROW(static_cast<void>(triangles(w, share, {.per_vertex = true, .mode = mode})),
                 cancelled);
    EXPECT_EQ(triangles(w, share, {.per_vertex = true, .mode = mode}).total, 82'160u);
  }
}

}  // namespace
}  // namespace cairn::algo::triangles_test
