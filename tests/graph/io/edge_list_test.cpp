// SPDX-License-Identifier: Apache-2.0
#include <cairn/base/random.hpp>
#include <cairn/graph/io/edge_list.hpp>

#include "files.hpp"

namespace cairn::graph::io::edge_list_test {
namespace {

using test::folder;
using test::line;

const std::vector<std::uint64_t> listed_offsets{0, 2, 2, 5};
const std::vector<std::uint32_t> listed_targets{1, 2, 0, 1, 2};
const std::vector<double> weights{0.1, 2, -1.0 / 3, 4e10, 5};
const std::vector<std::uint64_t> ids{10, 20, 18446744073709551614u};

std::string written(const std::string& name, const native_graph& g,
                    undirected_edges edges = undirected_edges::both_ways) {
  const folder dir;
  const auto pool = task::make_threads({.workers = 2});
  write_edge_list(*pool, dir / name, g, edges);
  return test::bytes_of(dir / name);
}

TEST(EdgeList, LinesHaveTheInputsIdsInOrder) {
  EXPECT_EQ(written("g.el", {true, 5, listed_offsets, std::span(listed_targets), {}, {}}),
            "0 1\n0 2\n2 0\n2 1\n2 2\n");
  EXPECT_EQ(written("g.txt",
                    {true, 5, listed_offsets, std::span(listed_targets), std::span(weights), ids}),
            "10 20\n10 18446744073709551614\n18446744073709551614 10\n18446744073709551614 20\n"
            "18446744073709551614 18446744073709551614\n");
}

TEST(EdgeList, UndirectedEdgesStandOnceOrBothWays) {
  const std::vector<std::uint64_t> rows{0, 1, 3};
  const std::vector<std::uint32_t> ends{1, 0, 1};
  const native_graph g{false, 2, rows, std::span(ends), {}, {}};
  EXPECT_EQ(written("g.el", g), "0 1\n1 0\n1 1\n");
  EXPECT_EQ(written("g.el", g, undirected_edges::once), "0 1\n1 1\n");
}

TEST(EdgeList, WeightsReadBackToTheLastBit) {
  const folder dir;
  const auto pool = task::make_threads({.workers = 2});
  const auto path = dir / "g.wel.zst";
  write_edge_list(*pool, path,
                  {true, 5, listed_offsets, std::span(listed_targets), std::span(weights), {}});
  EXPECT_EQ(test::lines_of(test::read(path)),
            (std::vector<line>{{0, 1, 0.1}, {0, 2, 2}, {2, 0, -1.0 / 3}, {2, 1, 4e10}, {2, 2, 5}}));
}

TEST(EdgeList, ManyPiecesKeepTheirOrder) {
  constexpr std::uint64_t n = 3000;
  std::vector<std::uint64_t> rows{0};
  std::vector<std::uint32_t> ends;
  random64 draw(8);
  std::vector<line> expected;
  for (std::uint64_t v = 0; v < n; ++v) {
    for (auto k = draw.below(400); k > 0; --k) {
      ends.push_back(static_cast<std::uint32_t>(draw.below(n)));
      expected.emplace_back(v, ends.back(), 1);
    }
    rows.push_back(ends.size());
  }
  const folder dir;
  const auto pool = task::make_threads({.workers = 2});
  write_edge_list(*pool, dir / "g.el", {true, ends.size(), rows, std::span(ends), {}, {}});
  EXPECT_EQ(test::lines_of(test::read(dir / "g.el", 2, 10'000)), expected);
}

using edges = std::vector<line>;

std::string listed(const std::string& name, const labels& names, weight_kind kind,
                   const edges& all) {
  const folder dir;
  edge_list_writer file(dir / name, names, kind);
  for (const auto& [source, target, weight] : all) file.append(source, target, weight);
  file.finish();
  return test::bytes_of(dir / name);
}

TEST(EdgeListWriter, WritesIdsOfPositionsAndTheWeightsThatTheNameHolds) {
  const labels numbers(ids);
  const edges some{{0, 2, 4}, {1, 2, -7}};
  const std::string pairs = "10 18446744073709551614\n20 18446744073709551614\n";
  EXPECT_EQ(listed("g.el", numbers, weight_kind::integer, some), pairs);
  EXPECT_EQ(listed("g.txt", numbers, weight_kind::none, some), pairs);
  EXPECT_EQ(listed("g.wel", numbers, weight_kind::integer, some),
            "10 18446744073709551614 4\n20 18446744073709551614 -7\n");
  EXPECT_EQ(listed("g.csv", numbers, weight_kind::none, {{0, 1, 1}}), "source,target\n10,20\n");
  word_list words;
  for (const auto* const word : {"a", "bc"}) words.push_back(word);
  EXPECT_EQ(listed("g.csv", labels(words).reordered(vertex_order::listed({1, 0})),
                   weight_kind::real, {{0, 1, 4}, {0, 1, 0.1}}),
            "source,target,weight\na,bc,4.0\na,bc,0.1\n");
}

TEST(EdgeListWriter, WritesFilesWithoutEdges) {
  EXPECT_EQ(listed("g.el", labels(3), weight_kind::integer, {}), "");
  EXPECT_EQ(listed("g.csv", labels(3), weight_kind::integer, {}), "source,target,weight\n");
}

TEST(EdgeListWriter, WritesManyLinesCompressed) {
  edges all;
  for (std::uint64_t i = 0; i < 50'000; ++i) all.emplace_back(i, i + 1, i);
  const folder dir;
  edge_list_writer file(dir / "g.wel.xz", labels(all.size() + 1), weight_kind::integer);
  for (const auto& [source, target, weight] : all) file.append(source, target, weight);
  file.finish();
  EXPECT_EQ(test::lines_of(test::read(dir / "g.wel.xz")), all);
}

TEST(EdgeListWriter, RefusesNamesAsForAGraph) {
  EXPECT_THROW(listed("g.wel", labels(3), weight_kind::none, {}), usage_error);
  EXPECT_THROW(listed("g.mtx", labels(3), weight_kind::integer, {}), usage_error);
}

TEST(EdgeList, AGraphThatTheNameCannotHoldIsRefused) {
  const native_graph g{true, 5, listed_offsets, std::span(listed_targets), {}, {}};
  EXPECT_THROW(written("g.wel", g), usage_error);
  EXPECT_THROW(written("g.mtx", g), usage_error);
}

}  // namespace
}  // namespace cairn::graph::io::edge_list_test
