// SPDX-License-Identifier: Apache-2.0
//
// Real files, and the counts that their README states for them.
#include <set>

#include <cairn/core/world.hpp>
#include <cairn/graph/labels.hpp>

#include "files.hpp"

namespace cairn::graph::io::data_test {
namespace {

struct real_file {
  const char* name;
  std::uint64_t vertices;
  std::uint64_t edges;
  bool directed;  // as the format says
  weight_kind weights;
};

constexpr auto none = weight_kind::none;

const std::vector<real_file> files{
    // The README counts 265,214 vertices here, of which 205 have no edge: not in an edge list.
    {"email-EuAll.txt.gz", 265'009, 364'481, true, none},
    {"web-Google-scc.txt.gz", 434'818, 3'419'124, true, none},
    {"web-NotreDame.txt.gz", 325'729, 1'497'134, true, none},
    {"cnr-2000.txt.gz", 325'557, 3'216'152, true, none},
    {"soc-Epinions1.txt.gz", 75'879, 508'837, true, none},
    {"wiki-Vote.txt.gz", 7'115, 103'689, true, none},
    {"loc-gowalla.txt.gz", 196'591, 950'327, true, none},
    {"dblp-2010.mtx.gz", 326'186, 807'700, false, none},
    {"USA-road-FLA.mtx.gz", 1'070'376, 1'343'951, false, none},
    {"USA-road-d.NY.gr.gz", 264'346, 730'100, true, weight_kind::integer},
    {"bremen-time.gr.gz", 40'461, 86'475, true, weight_kind::integer},
    {"wave.graph.gz", 156'317, 1'059'331, false, none},
    {"PGPgiantcompo.graph.gz", 10'680, 24'316, false, none},
    {"as-caida20071105.csv.gz", 26'475, 53'381, true, none},
    {"email-Enron.csv.gz", 36'692, 183'831, true, none},
    {"ca-CondMat-cc1.csv.gz", 21'363, 91'342, true, none},
    {"karate.mtx", 34, 78, false, none},
    {"west0067.mtx", 67, 294, true, weight_kind::real},
    {"bcsstk13.mtx", 2'003, 42'943, false, weight_kind::real},
    {"ldbc-directed-example.mtx", 10, 17, true, weight_kind::real},
    {"ldbc-undirected-example.mtx", 9, 12, false, weight_kind::real},
};

TEST(Data, RealGraphsHaveTheirCounts) {
  const auto data = test::data_folder();
  if (!data) GTEST_SKIP() << "no folder of data beside the project, and CAIRN_DATA is not set";
  world w(2);
  for (const auto& file : files) {
    const auto path = *data / "graphs" / file.name;
    if (!std::filesystem::exists(path)) {
      std::cout << "skipped: no " << path << '\n';
      continue;
    }
    auto edges = read_edges(w, path, {.block_bytes = std::size_t{1} << 20});
    EXPECT_EQ(edges.num_edges(), file.edges) << file.name;
    EXPECT_EQ(edges.directed, file.directed) << file.name;
    EXPECT_EQ(edges.weights, file.weights) << file.name;
    EXPECT_EQ(relabel(w, edges).size(), file.vertices) << file.name;
  }
}

/// Edges by the input's ids counted from `first`, without loops and duplicates.
std::set<std::pair<std::uint64_t, std::uint64_t>> simple_edges(const raw_edges& edges) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> simple;
  for (const auto& [u, v, weight] : test::lines_of(edges)) {
    if (u != v) simple.emplace(u, v);
  }
  return simple;
}

TEST(Data, OneGraphInSevenFormatsIsTheSameGraph) {
  const auto data = test::data_folder();
  if (!data || !std::filesystem::exists(*data / "validation" / "gapbs")) {
    GTEST_SKIP() << "no validation/gapbs beside the project or in CAIRN_DATA";
  }
  const auto gapbs = *data / "validation" / "gapbs";
  const auto expected = simple_edges(test::read(gapbs / "graphs_4.el"));
  EXPECT_EQ(expected.size(), 53u) << "as the reference output says";
  for (const char* name : {"graphs_4.wel", "graphs_4.gr", "graphs_4.mtx", "graphs_4.graph",
                           "graphs_4w.graph", "graphs_4w.mtx"}) {
    EXPECT_EQ(simple_edges(test::read(gapbs / name)), expected) << name;
  }
  // The weights of these two are the same draw, so the graphs are equal as multisets.
  auto weighted = test::lines_of(test::read(gapbs / "graphs_4.wel"));
  auto arcs = test::lines_of(test::read(gapbs / "graphs_4.gr"));
  std::sort(weighted.begin(), weighted.end());
  std::sort(arcs.begin(), arcs.end());
  EXPECT_EQ(weighted, arcs);
}

}  // namespace
}  // namespace cairn::graph::io::data_test
