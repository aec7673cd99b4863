// SPDX-License-Identifier: Apache-2.0
//
// LDBC Graphalytics' graphs, parameters and reference outputs.
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <cairn/algo/graphalytics.hpp>
#include <cairn/base/error.hpp>

#include <support/data_folder.hpp>
#include <support/on_ranks.hpp>
#include <support/temporary_folder.hpp>

namespace cairn::algo::graphalytics_test {
namespace {

using whole = std::vector<std::uint64_t>;
using reals = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(GraphalyticsComparer, TakesWhatIsCloseAndNamesWhatIsNot) {
  const auto at = [](const reals& found) {
    return first_disagreement(agreement::close, reals{0.5, 0.0, 1.0, infinity}, found);
  };
  EXPECT_EQ(at({0.5, 0, 1.00009, infinity}), std::nullopt);
  EXPECT_EQ(at({0.5, 0, 1.00011, infinity}), 2u);
  EXPECT_EQ(at({0.5, 0, 0.99989, infinity}), 2u);
  EXPECT_EQ(at({0.5, 1e-9, 1, infinity}), 1u);
  EXPECT_EQ(at({0.5, 0, std::nan(""), infinity}), 2u);
  EXPECT_EQ(at({0.5, 0, infinity, infinity}), 2u);
  EXPECT_EQ(at({0.5, 0, 1, 1e300}), 3u);
  EXPECT_EQ(at({-0.5, 0, 1, 1e300}), 0u);
}

TEST(GraphalyticsComparer, TakesEqualWholeNumbersOnly) {
  constexpr auto large = std::uint64_t{1} << 60;
  const auto at = [](const whole& found) {
    return first_disagreement(agreement::exact, whole{1, large, 7}, found);
  };
  EXPECT_EQ(at({1, large, 7}), std::nullopt);
  EXPECT_EQ(at({1, large + 1, 7}), 1u);
  EXPECT_EQ(at({1, large, 8}), 2u);
}

TEST(GraphalyticsComparer, TakesClassesUnderAnyNames) {
  const auto at = [](const whole& found) {
    return first_disagreement(agreement::renamed, whole{1, 1, 5}, found);
  };
  EXPECT_EQ(at({7, 7, 1}), std::nullopt);
  EXPECT_EQ(at({1, 3, 5}), 1u);  // apart from others of its class
  EXPECT_EQ(at({1, 1, 1}), 2u);  // together with others of another class
}

// Vertex 5 has no edges; CDLP's labels do not fit doubles.
TEST(GraphalyticsDataset, KeepsVerticesWithoutEdgesAndLargeIds) {
  const support::temporary_folder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  const std::string large = "9007199254740993";  // 2^53 + 1
  write("g.properties",
        "graph.g.vertex-file = g.v\ngraph.g.edge-file=g.e\ngraph.g.directed = false\n"
        "graph.g.algorithms = CDLP,wcc\ngraph.g.cdlp.max-iterations = 1\n");
  write("g.v", large + "\n5\n" + large + "0\n");
  write("g.e", large + " " + large + "0\n");
  write("g-CDLP", "5 5\n" + large + " " + large + "0\n" + large + "0 " + large + "\n");
  write("g-WCC", "5 7\n" + large + " 8\n" + large + "0 8\n");
  for (const rank_t ranks : {1, 3}) {
    support::on_ranks(ranks, 1, [&](world& w) {
      const graph::graphalytics_dataset from(folder / "g.properties");
      const auto g = graph::load(w, from, {}).graph;
      const auto& rows = std::get<graph::dist_csr<std::uint32_t>>(g);
      EXPECT_EQ(rows.num_vertices(), 3u);
      EXPECT_EQ(rows.num_edges(), 1u);
      EXPECT_EQ(rows.labels().text_of(0), "5");
      EXPECT_EQ(from.algorithms(), (std::vector<std::string>{"cdlp", "wcc"}));
      const auto outcome = [&](std::string_view name) {
        return run_graphalytics(w, g, from, graphalytics_algorithm_of(from, name)).wrong;
      };
      EXPECT_FALSE(outcome("cdlp"));
      EXPECT_FALSE(outcome("wcc"));
      EXPECT_THROW(static_cast<void>(graphalytics_algorithm_of(from, "apsp")), input_error);
      if (w.rank() == 0) write("g-CDLP", "5 5\n" + large + " 9007199254740992\n" + large + "0 1\n");
      w.barrier();
      const auto wrong = outcome("cdlp");
      ASSERT_TRUE(wrong);
      EXPECT_EQ(wrong->vertex, 9007199254740993u);
      EXPECT_EQ(wrong->expected, "9007199254740992");
      EXPECT_EQ(wrong->found, large + "0");
      w.barrier();
      if (w.rank() == 0) {
        write("g-CDLP", "5 5\n" + large + " " + large + "0\n" + large + "0 " + large + "\n");
      }
      w.barrier();
    });
  }
}

// All reference outputs of LDBC's graphs.
void run_all(world& w, const std::filesystem::path& folder) {
  std::set<std::string_view> ran;
  for (const auto& file : graph::graphalytics_files(folder)) {
    const graph::graphalytics_dataset from(file);
    for (const auto order : {graph::order_kind::file, graph::order_kind::hash}) {
      graph::load_options options{.order = order};
      options.build.inverse = true;
      const auto g = graph::load(w, from, options).graph;
      for (const auto& name : from.algorithms()) {
        const auto& which = graphalytics_algorithm_of(from, name);
        const auto outcome = run_graphalytics(w, g, from, which);
        const auto& wrong = outcome.wrong;
        EXPECT_FALSE(wrong) << from.name() << " " << name << ": vertex " << wrong->vertex << " has "
                            << wrong->found << ", expected " << wrong->expected;
        EXPECT_GT(outcome.compared, 0u);
        ran.insert(which.name);
      }
    }
  }
  EXPECT_EQ(ran.size(), 6u);
}

std::optional<std::filesystem::path> graphalytics_folder() {
  const auto data = support::data_folder();
  if (!data || !std::filesystem::exists(*data / "validation" / "graphalytics")) return {};
  return *data / "validation" / "graphalytics";
}

class Graphalytics : public ::testing::TestWithParam<rank_t> {};

INSTANTIATE_TEST_SUITE_P(Ranks, Graphalytics, ::testing::Values(1, 2, 3, 4, 8));

TEST_P(Graphalytics, EveryResultIsTheReferenceOutputOverRings) {
  const auto folder = graphalytics_folder();
  if (!folder) GTEST_SKIP() << "no validation/graphalytics beside the project or in CAIRN_DATA";
  support::on_ranks(GetParam(), 2, [&](world& w) { run_all(w, *folder); });
}

TEST_P(Graphalytics, EveryResultIsTheReferenceOutputOnASimulatedCluster) {
  const auto folder = graphalytics_folder();
  if (!folder) GTEST_SKIP() << "no validation/graphalytics beside the project or in CAIRN_DATA";
  for (const std::uint64_t seed : {1, 2}) {
    support::on_simulated_ranks(GetParam(), 2, seed, [&](world& w) { run_all(w, *folder); });
  }
}

}  // namespace
}  // namespace cairn::algo::graphalytics_test
