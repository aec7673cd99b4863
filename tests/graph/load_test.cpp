// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <fstream>
#include <graph/graph_reference.hpp>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/graph/load.hpp>

#include <support/on_ranks.hpp>
#include <support/temporary_folder.hpp>

namespace cairn::graph::load_test {
namespace {

using cairn::support::on_ranks;
using reference::edge_list;

/// Out-arcs of the whole graph as loaded on `ranks` ranks.
edge_list loaded_on(rank_t ranks, int workers, const source& from,
                    const load_options& options = {}) {
  std::vector<edge_list> parts(static_cast<std::size_t>(ranks));
  on_ranks(ranks, workers, [&](world& w) {
    const auto loaded = load(w, from, options);
    parts[static_cast<std::size_t>(w.rank())] =
        reference::arcs_of(std::get<dist_csr<std::uint32_t>>(loaded.graph).out());
    EXPECT_GE(loaded.load_seconds, 0);
    EXPECT_GE(loaded.build_seconds, 0);
  });
  edge_list whole;
  for (const auto& part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

TEST(Load, GivesTheSameGeneratedGraphWhateverTheNumberOfRanksAndWorkers) {
  for (const generator& g :
       {generator{.kind = kronecker_graph{.scale = 10, .edge_factor = 8}, .seed = 2},
        generator{.kind = uniform_graph{.scale = 10, .edge_factor = 8}, .seed = 2},
        generator{.kind = erdos_renyi_graph{1000, 0.01}, .seed = 2},
        generator{.kind = grid_graph{30, 40}, .seed = 2}}) {
    const auto alone = loaded_on(1, 1, g);
    for (std::size_t i = 1; i < alone.size(); ++i) ASSERT_LT(alone[i - 1], alone[i]);
    for (const auto& a : alone) ASSERT_NE(a.source, a.target);
    for (const int workers : {2, 4}) EXPECT_EQ(loaded_on(1, workers, g), alone);
    for (const rank_t ranks : {2, 3, 8}) EXPECT_EQ(loaded_on(ranks, 1, g), alone);
  }
}

TEST(Load, RefusesAGeneratorThatDoesNotFitTheMemoryBeforeItDraws) {
  on_ranks(2, 1, [](world& w) {
    const generator g{.kind = kronecker_graph{.scale = 40}};
    EXPECT_THROW(static_cast<void>(load(w, g)), usage_error);
  });
}

class LoadFile : public testing::Test {
 protected:
  support::temporary_folder folder_;
  const std::string path_ = folder_ / "graph.el";
};

TEST_F(LoadFile, NumbersTheVerticesAndBuildsWithTheOptionsGiven) {
  std::ofstream(path_) << "# sparse ids\n70 10\n10 70\n1000000 70\n10 10\n70 10\n";
  for (const rank_t ranks : {1, 2, 3}) {
    EXPECT_EQ(loaded_on(ranks, 2, path_),
              (edge_list{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 0, 0}, {2, 1, 0}}));
    const build_options tidy{.symmetrize = true, .drop_self_loops = true, .drop_duplicates = true};
    EXPECT_EQ(loaded_on(ranks, 2, path_, {.build = tidy}),
              (edge_list{{0, 1, 0}, {1, 0, 0}, {1, 2, 0}, {2, 1, 0}}));
  }
}

TEST_F(LoadFile, KeepsTheIdsOfTheInputAsLabels) {
  std::ofstream(path_) << "70 10\n1000000 70\n";
  world w(1);
  const auto loaded = load(w, path_, {.build = {.inverse = true}});
  const auto& g = std::get<dist_csr<std::uint32_t>>(loaded.graph);
  EXPECT_EQ(g.labels().id_of(2), 1'000'000u);
  EXPECT_EQ(g.num_edges(), 2u);
  EXPECT_TRUE(g.directed());
  EXPECT_EQ(reference::arcs_of(g.in()), (edge_list{{0, 1, 0}, {1, 2, 0}}));
}

TEST_F(LoadFile, ThrowsTheReadersSentenceOnEveryRank) {
  std::ofstream(path_) << "1 2\n3 x\n";
  on_ranks(2, 1, [&](world& w) { EXPECT_THROW(static_cast<void>(load(w, path_)), input_error); });
}

}  // namespace
}  // namespace cairn::graph::load_test
