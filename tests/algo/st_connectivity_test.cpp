// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/algo/ref/st_connectivity.hpp>
#include <cairn/algo/st_connectivity.hpp>
#include <cairn/base/contract.hpp>

#include <support/activity_options.hpp>
#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo::st_connectivity_test {
namespace {

using support::plain_graph;

template <class Id>
st_connectivity_result search(world& w, const plain_graph& g, std::uint64_t s, std::uint64_t t,
                              const activity::options& setting) {
  const auto share = support::share_of<Id>(g, w.rank(), w.size());
  const auto r = st_connectivity(w, share, {.s = static_cast<Id>(s), .t = static_cast<Id>(t)},
                                 {.activity = setting});
  EXPECT_EQ(r.connected, ref::reaches(g.n, g.arcs(), s, t))
      << g.name << ", " << s << " to " << t << ", " << support::describe(setting);
  EXPECT_LE(r.visited, g.n) << g.name;
  return r;
}

void search_at_random(world& w, const plain_graph& g, random64& random) {
  const auto setting = support::random_activity(random, w.workers());
  const auto s = random.below(g.n), t = random.below(g.n);
  if (random.below(2) == 0) {
    search<std::uint32_t>(w, g, s, t, setting);
  } else {
    search<std::uint64_t>(w, g, s, t, setting);
  }
}

class StConnectivity : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, StConnectivity, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(StConnectivity, IsRightOnCornerGraphs) {
  GetParam().run([](world& w) {
    random64 random(1);
    for (const auto& g : support::corner_graphs()) {
      for (int i = 0; i < 3; ++i) search_at_random(w, g, random);
    }
  });
}

TEST_P(StConnectivity, IsRightOnRandomGraphs) {
  const int graphs = support::num_random_graphs(GetParam().simulated() ? 60 : 12);
  GetParam().run([&](world& w) {
    random64 random(2);
    for (int i = 0; i < graphs; ++i) {
      search_at_random(w, support::random_graph(random()), random);
      search_at_random(w, support::two_halves(random), random);
    }
  });
}

TEST_P(StConnectivity, IsRightWithTinyBuffers) {
  GetParam().run(
      [](world& w) {
        random64 random(3);
        for (int i = 0; i < 8; ++i) search_at_random(w, support::two_halves(random), random);
      },
      {.coalesce_bytes = 16, .coalesce_age_ns = 0, .pending_bytes = 100, .filter_entries = 2});
}

// The searches meet in the middle: neither walks the whole path.
TEST_P(StConnectivity, StopsWhereTheSearchesMeet) {
  GetParam().run([](world& w) {
    const auto r = search<std::uint32_t>(w, support::path(70), 20, 29, {});
    EXPECT_EQ(r.levels, 9u);
    EXPECT_LE(r.visited, 25u);
    const auto far = search<std::uint32_t>(w, support::path(70), 0, 69, {});
    EXPECT_EQ(far.levels, 69u);
  });
}

TEST(StConnectivityContract, EndsAreVerticesAndEdgesGoBothWays) {
  const auto g = support::one_way_path(4);
  world w;
  const auto both = support::share_of<std::uint32_t>(g, 0, 1);
  const auto out = support::share_of<std::uint32_t>(g, 0, 1, support::in_edges::no);
  EXPECT_TRUE(st_connectivity(w, both, {.s = 0u, .t = 3u}).connected);
  EXPECT_FALSE(st_connectivity(w, both, {.s = 3u, .t = 0u}).connected);
  EXPECT_TRUE(st_connectivity(w, both, {.s = 2u, .t = 2u}).connected);
  EXPECT_THROW(static_cast<void>(st_connectivity(w, both, {.s = 0u, .t = 4u})), contract_violation);
  EXPECT_THROW(static_cast<void>(st_connectivity(w, out, {.s = 0u, .t = 3u})), contract_violation);
}

}  // namespace
}  // namespace cairn::algo::st_connectivity_test
