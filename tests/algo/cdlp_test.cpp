// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/cdlp.hpp>
#include <cairn/algo/ref/cdlp.hpp>
#include <cairn/base/contract.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

#include "algo/label_counts.hpp"

namespace cairn::algo::cdlp_test {
namespace {

using support::plain_graph;
using labels = std::vector<std::uint64_t>;

labels expected_of(const plain_graph& g, std::uint64_t iterations) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
  for (const auto& e : g.edges) edges.emplace_back(e.source, e.target);
  return ref::propagated_labels(g.n, g.directed, edges, iterations);
}

class Cdlp : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Cdlp, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// Rows of all lengths, so that each way of counting is used.
TEST_P(Cdlp, AgreesWithTheDefinitionAfterAnyNumberOfIterations) {
  GetParam().run([](world& w) {
    random64 random(3);
    for (int i = 0; i < 6; ++i) {
      plain_graph g{"dense graph", 150, random.below(2) == 0, {}};
      for (int e = 0; e < 1'500; ++e) {
        g.edges.push_back({random.below(150), random.below(150) * random.below(150) / 150});
      }
      const auto iterations = random.below(7);
      const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
      const auto r = cdlp(w, share, {.iterations = iterations});
      EXPECT_EQ(support::whole(w, r.label), expected_of(g, iterations));
      EXPECT_EQ(verify_cdlp(w, share, r.label, iterations), std::nullopt);
    }
  });
}

TEST(CdlpOfOne, LabelsOfTwoSidesAlternateUntilTheIterationsEnd) {
  world w;
  const auto share = support::share_of<std::uint32_t>(support::star(5), 0, 1);
  const auto r = cdlp(w, share, {.iterations = 7});
  EXPECT_EQ(support::whole(w, r.label), (labels{1, 0, 0, 0, 0}));
  EXPECT_EQ(r.iterations, 7u);
  EXPECT_EQ(r.changed, 5u);
  EXPECT_EQ(support::whole(w, cdlp(w, share, {.iterations = 0}).label), (labels{0, 1, 2, 3, 4}));
}

TEST(CdlpOfOne, StopsWhenNoLabelChanges) {
  world w;
  const auto share = support::share_of<std::uint32_t>(support::complete(9), 0, 1);
  const auto r = cdlp(w, share, {.iterations = 100});
  EXPECT_EQ(r.changed, 0u);
  EXPECT_LT(r.iterations, 5u);
}

TEST(CdlpOfOne, AVertexJoinedBothWaysCountsTwice) {
  world w;
  const plain_graph g{"", 5, true, {{4, 3}, {3, 4}, {4, 1}, {2, 4}}};
  const auto share = support::share_of<std::uint32_t>(g, 0, 1);
  EXPECT_EQ(support::whole(w, cdlp(w, share, {.iterations = 1}).label), (labels{0, 4, 4, 4, 3}));
}

TEST(CdlpOfOne, OfAnOrderWithoutIdsTheSmallestIdWins) {
  world w;
  const plain_graph g{"", 3, false, {{0, 1}, {1, 2}}};
  const auto plain = support::share_of<std::uint32_t>(g, 0, 1);
  const auto row = [](std::uint64_t a, std::uint64_t b) { return std::vector{a, b}; };
  const std::vector<std::vector<std::uint64_t>> rows{{1}, row(0, 2), {1}};
  const graph::dist_csr<std::uint32_t> renumbered(
      plain.partition(), false, 2,
      support::detail::rows_of<std::uint32_t>(rows, plain.partition(), 0),
      graph::labels::by_vertex(std::vector<std::uint64_t>{30, 20, 10}));
  // Ids 30 - 20 - 10: the vertex in the middle takes the label 10, which is vertex 2.
  const auto r = cdlp(w, renumbered, {.iterations = 1});
  EXPECT_EQ(support::whole(w, r.label), (labels{1, 2, 1}));
  EXPECT_EQ(verify_cdlp(w, renumbered, r.label, 1), std::nullopt);
}

TEST(CdlpVerifier, CatchesEveryChangeOfALabel) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      random64 draw(7);
      for (int i = 0; i < 40; ++i) {
        const auto g = support::random_graph(draw());
        const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
        auto label = cdlp(w, share).label;
        const auto v = draw.below(g.n), x = draw.below(g.n + 1);
        const auto right = support::whole(w, label)[v];
        if (label.owns(v))
          label.store(v, x == g.n ? no_vertex<std::uint32_t> : static_cast<std::uint32_t>(x));
        const auto wrong = verify_cdlp(w, share, label, 10);
        EXPECT_EQ(wrong.has_value(), x != right) << g.name;
        if (wrong && x < g.n) {
          EXPECT_EQ(*wrong, "vertex " + std::to_string(v) + " has the label " + std::to_string(x) +
                                ", expected " + std::to_string(right));
        }
      }
    });
  }
}

TEST(CdlpContract, DirectedEdgesCountBothWays) {
  world w;
  const auto out =
      support::share_of<std::uint32_t>(support::one_way_path(4), 0, 1, support::in_edges::no);
  EXPECT_THROW(static_cast<void>(cdlp(w, out)), contract_violation);
}

TEST(LabelCounts, FindTheSmallestOfTheMostFrequent) {
  random64 random(5);
  label_counts<std::uint32_t> counts;
  for (int i = 0; i < 3'000; ++i) {
    std::vector<std::uint32_t> seen(1 + random.below(i % 3 == 0 ? 400 : 40));
    const auto kinds = 1 + random.below(2 * seen.size());
    for (auto& x : seen) x = static_cast<std::uint32_t>(random.below(kinds) * 977);
    if (random.below(4) == 0) std::sort(seen.begin(), seen.end());
    std::map<std::uint32_t, int> votes;
    for (const auto x : seen) ++votes[x];
    const auto best =
        std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;  // the first of equals is the smallest label
        });
    EXPECT_EQ(counts.most_frequent(seen, seen[random.below(seen.size())]), best->first);
  }
}

}  // namespace
}  // namespace cairn::algo::cdlp_test
