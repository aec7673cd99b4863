// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/coloring.hpp>
#include <cairn/algo/components.hpp>
#include <cairn/algo/maxflow.hpp>
#include <cairn/algo/mst.hpp>
#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/ref/bfs.hpp>
#include <cairn/algo/ref/coloring.hpp>
#include <cairn/algo/ref/components.hpp>
#include <cairn/algo/ref/maxflow.hpp>
#include <cairn/algo/ref/mst.hpp>
#include <cairn/algo/ref/st_connectivity.hpp>
#include <cairn/algo/st_connectivity.hpp>

#include <support/dist_graph.hpp>
#include <support/pagerank_judging.hpp>
#include <support/places.hpp>
#include <support/weighted_graph.hpp>

namespace cairn::algo::partitions_test {
namespace {

using id = std::uint32_t;

class Partitions : public ::testing::TestWithParam<support::place> {};

/// Blocks of very different sizes: the first rank has none, and the last most.
pgas::partition uneven(std::uint64_t n, rank_t ranks) {
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(ranks), n / 16);
  if (ranks > 1) sizes.front() = 0;
  std::uint64_t before = 0;
  for (std::size_t r = 0; r + 1 < sizes.size(); ++r) before += sizes[r];
  sizes.back() = n - before;
  return pgas::partition::listed(sizes);
}

void expect_right_results(world& w, const support::plain_graph& g) {
  const auto share = support::share_of<id>(g, w.rank(), uneven(g.n, w.size()));
  const auto edges = g.arcs();
  const auto root = g.n / 2;
  const auto tree = bfs<id>(w, share, static_cast<id>(root), {.depths = true});
  EXPECT_EQ(ref::bfs_violation(g.n, edges, root, support::whole(w, tree.parent)), "");
  EXPECT_EQ(support::whole(w, *tree.depth), ref::bfs_depths(g.n, edges, root));
  const auto s = static_cast<id>(root), t = static_cast<id>(g.n - 1);
  EXPECT_EQ(st_connectivity<id>(w, share, {.s = s, .t = t}).connected,
            ref::reaches(g.n, edges, s, t));
  for (const auto method : {components_method::afforest, components_method::propagation}) {
    EXPECT_EQ(support::whole(w, components<id>(w, share, {.method = method}).label),
              ref::component_labels(g.n, edges));
  }
  const auto colors = coloring<id>(w, share);
  EXPECT_EQ(
      ref::coloring_violation(g.n, edges, w.all_gather_values<std::uint32_t>(colors.color.local())),
      "");
  for (const auto variant : {pagerank_variant::pull, pagerank_variant::push}) {
    const pagerank_options opt{.variant = variant, .sweep = pagerank_sweep::jacobi};
    const auto found = pagerank<double>(w, share, opt);
    const auto ranks = w.all_gather_values<double>(found.rank.local());
    const auto judge = support::judge_of(g, opt);
    EXPECT_LE(ref::pagerank_judge::distance(ranks, judge.after(found.iterations)),
              support::rounding<double>(judge, ranks));
  }
}

TEST_P(Partitions, OfUnequalBlocksGiveRightResults) {
  GetParam().run([](world& w) {
    for (const auto& g : {support::star(130), support::random_graph(5), support::grid(5, 9)}) {
      expect_right_results(w, g);
      random64 random(g.n);
      auto undirected = g;
      undirected.directed = false;
      const auto weighted = support::weigh(undirected, support::weights::whole, 1, random);
      const auto share = support::share_of<id>(weighted, w.rank(), uneven(g.n, w.size()));
      std::vector<ref::weighted_edge> forest;
      for (const auto& e : w.all_gather_values<mst_edge<id>>(mst<id>(w, share).edges)) {
        forest.push_back({e.source, e.target, e.weight});
      }
      EXPECT_EQ(forest, ref::kruskal(g.n, weighted.edges));
      const auto t = static_cast<id>(g.n - 1);
      EXPECT_EQ(maxflow<id>(w, share, {.s = 0, .t = t}).value,
                ref::edmonds_karp(g.n, weighted.capacities(), 0, t));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Partitions, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

}  // namespace
}  // namespace cairn::algo::partitions_test
