// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/ref/mst.hpp>
#include <cairn/algo/verify_forest.hpp>
#include <cairn/base/random.hpp>

#include <support/places.hpp>
#include <support/random_graphs.hpp>
#include <support/weighted_graph.hpp>

namespace cairn::algo::verify_forest_test {
namespace {

using graph::io::raw_edges;
using graph::io::weight_kind;
using ref::weighted_edge;
using support::share_of;
using support::weighted_graph;
using support::weights;
using edges = std::vector<weighted_edge>;

/// Whether the rows are a minimum spanning forest. Each has a weight of the graph's edges between
/// its ends; without `weights` it may have any, and counts as the smallest of them.
bool is_minimal(const weighted_graph& g, edges rows, bool weights) {
  std::vector<std::uint64_t> above(g.graph.n);
  std::iota(above.begin(), above.end(), std::uint64_t{0});
  const auto root = [&](std::uint64_t v) {
    while (above[v] != v) v = above[v];
    return v;
  };
  double weight = 0;
  for (auto& row : rows) {
    std::optional<double> found;
    for (const auto& e : g.edges) {
      const bool between = std::minmax(e.source, e.target) == std::minmax(row.source, row.target);
      if (!between || (weights && e.weight != row.weight)) continue;
      found = std::min(found.value_or(e.weight), e.weight);
    }
    const auto a = root(row.source), b = root(row.target);
    if (!found || a == b) return false;
    above[a] = b;
    weight += *found;
  }
  const auto best = ref::kruskal(g.graph.n, g.edges);
  for (const auto& e : best) weight -= e.weight;  // quarters add up exactly
  return rows.size() == best.size() && weight == 0;
}

/// Some of the rows, as a rank may read them: in two blocks with ids of different widths.
raw_edges part_of(const edges& rows, weight_kind kind, std::uint64_t rank, std::uint64_t ranks) {
  std::vector<graph::edge<std::uint32_t>> narrow;
  std::vector<graph::edge<std::uint64_t>> wide;
  std::vector<double> narrow_weights, wide_weights;
  for (std::uint64_t i = rank; i < rows.size(); i += ranks) {
    const auto& e = rows[i];
    if (e.source % 2 == 0) {
      narrow.push_back(
          {static_cast<std::uint32_t>(e.source), static_cast<std::uint32_t>(e.target)});
      narrow_weights.push_back(e.weight);
    } else {
      wide.push_back({e.source, e.target});
      wide_weights.push_back(e.weight);
    }
  }
  raw_edges part;
  part.weights = kind;
  part.blocks.resize(2);
  part.blocks[0].edges = std::move(narrow);
  part.blocks[1].edges = std::move(wide);
  const auto weigh = [&](graph::io::edge_block& block, const std::vector<double>& all) {
    if (kind == weight_kind::real) block.weights = all;
    if (kind == weight_kind::integer) {
      block.weights = std::vector<std::int32_t>(all.begin(), all.end());
    }
  };
  weigh(part.blocks[0], narrow_weights);
  weigh(part.blocks[1], wide_weights);
  return part;
}

template <class Id>
std::optional<std::string> said(world& w, const weighted_graph& g, const edges& rows,
                                weight_kind kind) {
  const auto share = share_of<Id>(g, w.rank(), w.size());
  return verify_forest(w, share,
                       part_of(rows, kind, static_cast<std::uint64_t>(w.rank()),
                               static_cast<std::uint64_t>(w.size())));
}

/// Also with parallel edges and self-loops.
weighted_graph random_weighted(random64& random) {
  auto g = support::random_graph(random(), 30);
  g.directed = false;
  for (auto more = random.below(8); more > 0 && !g.edges.empty(); --more) {
    const auto e = g.edges[random.below(g.edges.size())];
    g.edges.push_back({e.target, random.below(4) == 0 ? e.target : e.source});
  }
  return support::weigh(std::move(g), static_cast<weights>(random.below(3)), -4, random);
}

/// Changes nothing, or one thing that may make the forest wrong.
void change(edges& rows, const weighted_graph& g, random64& random) {
  const auto any = [&](const edges& all) { return random.below(all.size()); };
  const auto vertex = [&] { return random.below(g.graph.n); };
  const auto what = random.below(6);
  if (what == 0 || g.edges.empty()) return;
  if (what == 1) rows.push_back(g.edges[any(g.edges)]);
  if (rows.empty()) return;
  if (what == 2) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(any(rows)));
  if (what == 3) rows[any(rows)] = g.edges[any(g.edges)];
  if (what == 4) rows[any(rows)].weight += 1;
  if (what == 5) rows[any(rows)].target = vertex();
}

class VerifyForest : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, VerifyForest, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(VerifyForest, AcceptsWhatIsMinimalAndNothingElse) {
  const int graphs = support::num_random_graphs(GetParam().simulated() ? 60 : 20);
  GetParam().run([&](world& w) {
    random64 random(9);
    int wrong = 0;
    for (int i = 0; i < graphs; ++i) {
      const auto g = random_weighted(random);
      auto rows = ref::kruskal(g.graph.n, g.edges);
      change(rows, g, random);
      for (auto& e : rows) {
        if (random.below(2) == 0) std::swap(e.source, e.target);
      }
      for (auto left = rows.size(); left > 1; --left) {
        std::swap(rows[left - 1], rows[random.below(left)]);
      }
      const bool weighted = random.below(2) == 0;
      const auto kind = !weighted                 ? weight_kind::none
                        : g.kind == weights::real ? weight_kind::real
                                                  : weight_kind::integer;
      const bool right = is_minimal(g, rows, weighted);
      const auto found = random.below(2) == 0 ? said<std::uint32_t>(w, g, rows, kind)
                                              : said<std::uint64_t>(w, g, rows, kind);
      EXPECT_EQ(!found.has_value(), right) << g.graph.name << ": " << found.value_or("");
      wrong += right ? 0 : 1;
    }
    EXPECT_GT(wrong, graphs / 5);
    EXPECT_LT(wrong, graphs);
  });
}

// Vertices 0 and 1 have three edges, and there is a loop at 2.
TEST(VerifyForestSentences, NameTheViolatedRule) {
  const support::plain_graph plain{"parallel", 4, false, {}};
  const weighted_graph g{
      plain, weights::whole, {{0, 1, 4}, {0, 1, 3}, {1, 0, 5}, {1, 2, 2}, {2, 2, 1}, {0, 2, 5}}};
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      const auto with = [&](const edges& rows) {
        return said<std::uint32_t>(w, g, rows, weight_kind::integer).value_or("nothing");
      };
      const auto without = [&](const edges& rows) {
        return said<std::uint32_t>(w, g, rows, weight_kind::none).value_or("nothing");
      };
      EXPECT_EQ(with({{2, 1, 2}, {1, 0, 3}}), "nothing");
      EXPECT_EQ(without({{2, 1, 9}, {1, 0, 9}}), "nothing");
      EXPECT_EQ(with({{2, 1, 2}, {1, 0, 4}}),
                "the forest is not minimal: edge 0 - 1 is lighter than an edge on the forest path "
                "between its endpoints");
      EXPECT_EQ(with({{2, 1, 2}, {1, 0, 6}}),
                "the forest's edge 0 - 1 has another weight in the graph");
      EXPECT_EQ(with({{2, 1, 2}, {0, 1, 3}, {1, 0, 4}}),
                "the forest has a cycle, to which edge 0 - 1 belongs");
      EXPECT_EQ(without({{2, 1, 0}, {0, 1, 0}, {1, 0, 0}}), "the forest has edge 0 - 1 twice");
      EXPECT_EQ(without({{2, 1, 0}, {0, 1, 0}, {2, 2, 0}}),
                "the forest has a cycle, to which edge 2 - 2 belongs");
      EXPECT_EQ(without({{2, 1, 0}, {0, 1, 0}, {3, 3, 0}}),
                "the forest's edge 3 - 3 is not an edge of the graph");
      EXPECT_EQ(without({{2, 1, 0}, {0, 1, 0}, {3, 0, 0}}),
                "the forest's edge 0 - 3 is not an edge of the graph");
      EXPECT_EQ(without({{0, 1, 0}}), "the forest does not connect the ends of edge 0 - 2");
    });
  }
}

}  // namespace
}  // namespace cairn::algo::verify_forest_test
