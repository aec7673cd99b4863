// SPDX-License-Identifier: Apache-2.0
//
// LDBC Graphalytics' graphs, parameters and reference outputs.
#include <string>

#include <gtest/gtest.h>

#include <cairn/algo/pagerank.hpp>

#include <support/data_folder.hpp>
#include <support/dist_graph.hpp>
#include <support/graphalytics.hpp>
#include <support/on_ranks.hpp>

namespace cairn::algo {
namespace {

using support::graphalytics_rows;
using support::graphalytics_violation;

TEST(GraphalyticsComparer, TakesWhatIsCloseAndNamesWhatIsNot) {
  const graphalytics_rows expected{{3, 1.0}, {1, 0.5}, {2, 0.0}};
  const auto says = [&](const graphalytics_rows& found) {
    return graphalytics_violation(expected, found);
  };
  EXPECT_EQ(says({{1, 0.5}, {2, 0}, {3, 1.00009}}), "");
  EXPECT_EQ(says({{1, 0.5}, {2, 0}, {3, 1.00011}}), "vertex 3 has 1.000110, expected 1.000000");
  EXPECT_EQ(says({{1, 0.5}, {2, 1e-9}, {3, 1}}), "vertex 2 has 0.000000, expected 0.000000");
  EXPECT_EQ(says({{1, 0.5}, {2, 0}, {3, std::nan("")}}), "vertex 3 has nan, expected 1.000000");
  EXPECT_EQ(says({{1, 0.5}, {3, 1}}), "vertex 2 is missing");
  EXPECT_EQ(says({{1, 0.5}, {2, 0}}), "vertex 3 is missing");
  EXPECT_EQ(says({{1, 0.5}, {2, 0}, {3, 1}, {4, 0}}), "vertex 4 is not expected");
  EXPECT_EQ(says({{0, 0.5}, {1, 0.5}, {2, 0}, {3, 1}}), "vertex 0 is not expected");
  EXPECT_EQ(says({{1, 0.5}, {2, 0}, {2, 0}, {3, 1}}), "vertex 2 stands twice");
  EXPECT_EQ(says({}), "vertex 1 is missing");
}

std::optional<std::filesystem::path> graphalytics_folder() {
  const auto data = support::data_folder();
  if (!data || !std::filesystem::exists(*data / "validation" / "graphalytics")) return {};
  return *data / "validation" / "graphalytics";
}

TEST(Graphalytics, PagerankGivesTheReferenceOutputs) {
  const auto folder = graphalytics_folder();
  if (!folder) GTEST_SKIP() << "no validation/graphalytics beside the project or in CAIRN_DATA";
  for (const std::string name :
       {"example-directed", "example-undirected", "test-pr-directed", "test-pr-undirected"}) {
    const auto g = support::read_graphalytics(*folder, name);
    EXPECT_EQ(std::to_string(g.graph.n), g.properties.at("meta.vertices"));
    EXPECT_EQ(std::to_string(g.graph.edges.size()), g.properties.at("meta.edges"));
    const auto expected = support::read_graphalytics_rows(*folder / (name + "-PR"));
    for (const auto variant :
         {pagerank_variant::pull, pagerank_variant::push, pagerank_variant::edge}) {
      pagerank_options opt{.variant = variant, .convention = pagerank_convention::graphalytics};
      opt.iterations = std::stoull(g.properties.at("pr.num-iterations"));
      opt.damping = std::stod(g.properties.at("pr.damping-factor"));
      support::on_ranks(3, 2, [&](world& w) {
        const auto share = support::share_of<std::uint32_t>(g.graph, w.rank(), w.size());
        const auto result = pagerank<double>(w, share, opt);
        const auto ranks = w.all_gather_values<double>(result.rank.local());
        graphalytics_rows found;
        for (std::size_t v = 0; v < ranks.size(); ++v) found.emplace_back(g.ids[v], ranks[v]);
        EXPECT_EQ(graphalytics_violation(expected, found), "") << name;
      });
    }
  }
}

}  // namespace
}  // namespace cairn::algo
