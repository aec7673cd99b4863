// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <mutex>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/io/read_edges.hpp>

#include <support/on_ranks.hpp>

#include "files.hpp"

namespace cairn::graph::io::read_edges_test {
namespace {

using test::folder;
using test::line;
using test::lines_of;
using test::read;

using lines = std::vector<line>;

TEST(ReadEdges, AnEdgeListMayUseSpacesTabsCommasCommentsAndAnyLineEnds) {
  const folder dir;
  const auto path = dir.plain("g.txt",
                              "# a comment\n% another\n\n0 1\n2\t3\n4,5\n6, 7\n 8   9  \r\n"
                              "\t10 11\t\n# in the middle\n   \n12 13");
  const auto edges = read(path);
  EXPECT_EQ(
      lines_of(edges),
      (lines{{0, 1, 1}, {2, 3, 1}, {4, 5, 1}, {6, 7, 1}, {8, 9, 1}, {10, 11, 1}, {12, 13, 1}}));
  EXPECT_TRUE(edges.directed);
  EXPECT_FALSE(edges.has_weights());
  EXPECT_FALSE(edges.declared_vertices);
}

TEST(ReadEdges, EachLineOfAnEdgeListMayUseSemicolons) {
  const folder dir;
  EXPECT_EQ(lines_of(read(dir.plain("g.el", "0;1\n2; 3\n4,5\n"))),
            (lines{{0, 1, 1}, {2, 3, 1}, {4, 5, 1}}));
  EXPECT_EQ(lines_of(read(dir.plain("g.wel", "0;1;5\n"))), (lines{{0, 1, 5}}));
}

TEST(ReadEdges, AThirdColumnIsTheWeight) {
  const folder dir;
  const auto whole = read(dir.plain("g.wel", "0 1 5\n1 2 -7\n2,0,2147483647\n"));
  EXPECT_EQ(whole.weights, weight_kind::integer);
  EXPECT_EQ(lines_of(whole), (lines{{0, 1, 5}, {1, 2, -7}, {2, 0, 2147483647}}));
  const auto real = read(dir.plain("g.el", "0 1 5\n1 2 0.25\n2 0 -1e3\n"));
  EXPECT_EQ(real.weights, weight_kind::real);
  EXPECT_EQ(lines_of(real), (lines{{0, 1, 5}, {1, 2, 0.25}, {2, 0, -1000}}));
}

TEST(ReadEdges, OneRealWeightAnywhereMakesAllWeightsReal) {
  const folder dir;
  std::string text;
  for (int i = 0; i < 200; ++i) text += std::to_string(i) + " 0 " + std::to_string(i) + "\n";
  for (const auto& path :
       {dir.plain("a.wel", text + "200 0 0.5\n"), dir.plain("b.wel", "200 0 0.5\n" + text)}) {
    const auto edges = read(path, 2, 64);
    EXPECT_EQ(edges.weights, weight_kind::real);
    EXPECT_EQ(edges.num_edges(), 201u);
    for (const auto& block : edges.blocks) EXPECT_EQ(block.weights.index(), 2u);
  }
}

TEST(ReadEdges, WideIdsMakeOnlyTheirBlockWide) {
  const folder dir;
  std::string text;
  for (int i = 0; i < 100; ++i) text += "4294967294 1\n";
  text += "4294967295 18446744073709551614\n";
  const auto edges = read(dir.plain("g.el", text), 1, 256);
  EXPECT_EQ(edges.blocks.front().edges.index(), 0u);
  EXPECT_EQ(edges.blocks.back().edges.index(), 1u);
  EXPECT_EQ(lines_of(edges).front(), (line{4294967294u, 1, 1}));
  EXPECT_EQ(lines_of(edges).back(), (line{4294967295u, 18446744073709551614u, 1}));
}

TEST(ReadEdges, ACsvFileHasAHeaderLineOrBeginsWithAnEdge) {
  const folder dir;
  const lines expected{{1, 2, 1}, {3, 4, 1}};
  EXPECT_EQ(lines_of(read(dir.plain("a.csv", "source,target\n1,2\n3,4\n"))), expected);
  EXPECT_EQ(lines_of(read(dir.plain("b.csv", "\xef\xbb\xbf\"Source\";\"Target\"\r\n1;2\r\n3;4"))),
            expected);
  EXPECT_EQ(lines_of(read(dir.plain("c.csv", "1,2\n3,4\n"))), expected);
  EXPECT_EQ(lines_of(read(dir.plain("d.csv", "u,v,cost\n1,2,0.5\n"))), (lines{{1, 2, 0.5}}));
}

TEST(ReadEdges, MatrixMarketKnowsThreeFieldsAndThreeSymmetries) {
  const folder dir;
  const auto read_matrix = [&](const std::string& kind, const std::string& body) {
    return read(dir.plain("m.mtx", "%%MatrixMarket matrix coordinate " + kind + "\n% c\n" + body));
  };
  const auto general = read_matrix("pattern general", "3 3 2\n1 2\n3 3\n");
  EXPECT_EQ(lines_of(general), (lines{{0, 1, 1}, {2, 2, 1}}));
  EXPECT_TRUE(general.directed);
  EXPECT_EQ(general.declared_vertices, 3u);
  const auto lower = read_matrix("integer symmetric", "3 3 2\n2 1 5\n3 3 6\n");
  EXPECT_EQ(lines_of(lower), (lines{{1, 0, 5}, {2, 2, 6}}));
  EXPECT_FALSE(lower.directed);
  EXPECT_EQ(lines_of(read_matrix("real symmetric", "3 3 2\n1 2 5\n2 3 0.5\n")),
            (lines{{0, 1, 5}, {1, 2, 0.5}}));
  const auto skew = read_matrix("integer skew-symmetric", "3 3 2\n2 1 5\n3 1 -6\n");
  EXPECT_TRUE(skew.directed);
  EXPECT_EQ(lines_of(skew), (lines{{1, 0, 5}, {2, 0, -6}, {0, 1, -5}, {0, 2, 6}}));
}

TEST(ReadEdges, LengthsOfASkewSymmetricMatrixAreAllZero) {
  const folder dir;
  const auto matrix = [&](const std::string& kind, const std::string& body) {
    return dir.plain("m.mtx",
                     "%%MatrixMarket matrix coordinate " + kind + " skew-symmetric\n" + body);
  };
  world w;
  const auto read_lengths = [&](const std::string& path) {
    return read_edges(w, path, {.weights = {.not_negative = true}});
  };
  EXPECT_EQ(lines_of(read_lengths(matrix("integer", "2 2 1\n2 1 0\n"))),
            (lines{{1, 0, 0}, {0, 1, 0}}));
  for (const std::string kind : {"integer", "real"}) {
    const auto path = matrix(kind, "3 3 2\n2 1 0\n3 1 5\n");
    EXPECT_EQ(test::sentence_of(path, [&] { read_lengths(path); }),
              "m.mtx:4: expected weights of at least 0, but a skew-symmetric matrix has the "
              "negative of this weight for the opposite direction");
  }
}

TEST(ReadEdges, DimacsArcsCountFromOne) {
  const folder dir;
  const auto edges = read(dir.plain("g.gr", "c hi\nc\np sp 3 2\nc x\n a 1 2 7\n\t a  3   1 8\n"));
  EXPECT_EQ(lines_of(edges), (lines{{0, 1, 7}, {2, 0, 8}}));
  EXPECT_EQ(edges.declared_vertices, 3u);
  EXPECT_TRUE(edges.directed);
}

std::string random_edges(int count, bool weighted) {
  random64 draw(99);
  std::string text = "# head\n";
  for (int i = 0; i < count; ++i) {
    text += std::to_string(draw.below(1u << draw.below(30))) + ' ' +
            std::to_string(draw.below(1u << draw.below(30)));
    if (weighted) text += ' ' + std::to_string(draw.below(1000));
    text += draw.below(10) == 0 ? " \r\n" : "\n";
    if (draw.below(20) == 0) text += "# comment 1 2 3\n";
  }
  return text;
}

TEST(ReadEdges, TheEdgesDoNotDependOnBlocksWorkersOrCompression) {
  const folder dir;
  for (const bool weighted : {false, true}) {
    const auto text = random_edges(500, weighted);
    const auto expected = lines_of(read(dir.plain("g.txt", text)));
    ASSERT_EQ(expected.size(), 500u);
    for (const std::string ending : {"", ".gz", ".zst", ".xz"}) {
      const auto path = dir.packed("h.txt" + ending, text);
      for (const std::size_t block : {1u, 7u, 64u, 1000u}) {
        for (const int workers : {1, 3}) {
          EXPECT_EQ(lines_of(read(path, workers, block)), expected)
              << ending << ' ' << block << ' ' << workers;
        }
      }
    }
  }
}

TEST(ReadEdges, RanksTogetherHoldTheFileOnce) {
  const folder dir;
  const auto text = random_edges(700, true) + "5 5 0.5\n";
  auto expected = lines_of(read(dir.plain("g.txt", text)));
  std::sort(expected.begin(), expected.end());
  for (const std::string ending : {"", ".gz"}) {
    const auto path = dir.packed("h.txt" + ending, text);
    for (const rank_t ranks : {1, 2, 3, 8}) {
      lines all;
      std::mutex guard;
      support::on_ranks(ranks, 2, [&](world& w) {
        const auto edges = read_edges(w, path, {.block_bytes = 200});
        EXPECT_EQ(edges.weights, weight_kind::real);
        const auto mine = lines_of(edges);
        const std::lock_guard held(guard);
        all.insert(all.end(), mine.begin(), mine.end());
      });
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, expected) << ending << " on " << ranks;
    }
  }
}

TEST(ReadEdges, AllRanksThrowTheFilesFirstFault) {
  const folder dir;
  std::string text = random_edges(300, false);
  const auto line_number = std::count(text.begin(), text.end(), '\n') + 1;
  text += "1 x\n" + random_edges(100, false) + "1 y\n" + random_edges(100, false);
  for (const std::string ending : {"", ".gz"}) {
    const auto path = dir.packed("g.txt" + ending, text);
    for (const rank_t ranks : {1, 2, 3}) {
      std::atomic<int> heard{0};
      support::on_ranks(ranks, 2, [&](world& w) {
        try {
          static_cast<void>(read_edges(w, path, {.block_bytes = 128}));
        } catch (const input_error& error) {
          EXPECT_EQ(std::string(error.what()), path + ":" + std::to_string(line_number) +
                                                   ": expected an id (an integer), found 'x'");
          ++heard;
        }
      });
      EXPECT_EQ(heard, ranks);
    }
  }
}

TEST(ReadEdges, AWeightThatTheReaderDoesNotAcceptIsAFaultAtItsLine) {
  const folder dir;
  const auto said = [&](const std::string& path, const weight_rule& rule) {
    return test::sentence_of(path, [&] {
      world w(2);
      static_cast<void>(read_edges(w, path, {.block_bytes = 64, .weights = rule}));
    });
  };
  std::string valid;
  for (int i = 0; i < 100; ++i) valid += "1 2 5\n";
  for (const std::string ending : {"", ".gz"}) {
    const auto whole = dir.packed("a.wel" + ending, valid + "3 1 -7\n" + valid + "3 x\n");
    EXPECT_EQ(
        said(whole, {.not_negative = true}),
        "a.wel" + ending + ":101: expected a weight of at least 0, found '-7' (edge from 3 to 1)");
    const auto real = dir.packed("b.wel" + ending, valid + "3 1 1e3\n" + valid + "3 1 -0.5\n");
    EXPECT_EQ(said(real, {.numbers = weight_numbers::integer_of_32_bits}),
              "b.wel" + ending +
                  ":101: expected a weight that is a 32-bit integer, found '1e3' (edge from 3 to "
                  "1)");
    EXPECT_EQ(said(real, {.not_negative = true}),
              "b.wel" + ending +
                  ":202: expected a weight of at least 0, found '-0.5' (edge from 3 to 1)");
  }
  const auto large = dir.plain("c.wel", "1 2 3000000000\n1 2 -0.0\n");
  EXPECT_EQ(said(large, {.numbers = weight_numbers::integer}),
            "c.wel:2: expected a weight that is an integer, found '-0.0' (edge from 1 to 2)");
  EXPECT_EQ(said(large, {.numbers = weight_numbers::integer_of_32_bits}),
            "c.wel:1: expected a weight that is a 32-bit integer, found '3000000000' (edge from 1 "
            "to 2)");
  world w;
  EXPECT_EQ(read_edges(w, large, {.weights = {.not_negative = true}}).weights, weight_kind::real);
  EXPECT_EQ(said(dir.plain("d.graph", "2 1 1\n2 -1\n1 -1\n"), {.not_negative = true}),
            "d.graph:2: expected a weight of at least 0, found '-1' (edge from 1 to 2)");
}

TEST(ReadEdges, ProgressReachesTheEnd) {
  const folder dir;
  const auto text = random_edges(500, false);
  for (const std::string ending : {"", ".gz"}) {
    const auto path = dir.packed("g.txt" + ending, text);
    std::uint64_t last = 0, total = 0;
    world w(1);
    static_cast<void>(
        read_edges(w, path, {.block_bytes = 100, .progress = [&](auto done, auto all) {
                               EXPECT_GE(done, last);
                               last = done;
                               total = all;
                             }}));
    EXPECT_EQ(last, total) << ending;
    EXPECT_EQ(total, std::filesystem::file_size(path)) << ending;
  }
}

TEST(ReadEdges, FormatsGoByTheInnerEnding) {
  EXPECT_EQ(format_of("a/b.txt"), file_format::edge_list);
  EXPECT_EQ(format_of("b.el.gz"), file_format::edge_list);
  EXPECT_EQ(format_of("b.wel.zst"), file_format::weighted_edge_list);
  EXPECT_EQ(format_of("b.csv.xz"), file_format::csv);
  EXPECT_EQ(format_of("b.mtx"), file_format::matrix_market);
  EXPECT_EQ(format_of("b.gr"), file_format::dimacs);
  EXPECT_EQ(format_of("b.graph.gz"), file_format::metis);
  EXPECT_EQ(format_of("b.cairn"), file_format::native);
  EXPECT_THROW(static_cast<void>(format_of("b.gz")), input_error);
  EXPECT_THROW(static_cast<void>(format_of("b.xml")), input_error);
}

TEST(ReadEdges, AFormatThatIsNamedOverrulesTheEnding) {
  const folder dir;
  world w(1);
  const auto edges =
      read_edges(w, dir.plain("example.e", "1 2 0.5\n"), {.format = file_format::edge_list});
  EXPECT_EQ(lines_of(edges), (lines{{1, 2, 0.5}}));
}

lines read_vertices(const std::string& path, const labels& names, std::uint64_t max_edges = 100) {
  world w;
  return lines_of(
      read_edges(w, path, {.block_bytes = 16, .vertices = &names, .max_edges = max_edges}));
}

TEST(ReadEdgesOfAGraph, HaveItsVertices) {
  const folder dir;
  const auto order = vertex_order::listed({2, 0, 1});
  const auto numbers = labels(std::vector<std::uint64_t>{3, 5, 70}).reordered(order);
  word_list list;
  for (const auto* const word : {"a", "b", "c"}) list.push_back(word);
  const auto words = labels(list).reordered(order);
  const lines expected{{1, 0, 4}, {0, 2, -1}, {0, 0, 7}};
  EXPECT_EQ(read_vertices(dir.plain("n.wel", "# some\n3 70 4\n70, 5 -1\n70\t70 7\r\n"), numbers),
            expected);
  EXPECT_EQ(read_vertices(dir.plain("w.wel", "a c 4\nc b -1\n\nc c 7"), words), expected);
  EXPECT_EQ(
      read_vertices(dir.packed("w.csv.gz", "source,target,weight\na,c,4\nc,b,-1\nc,c,7\n"), words),
      expected);
}

TEST(ReadEdgesOfAGraph, MayBeNone) {
  const folder dir;
  const labels names(3);
  for (const auto& path :
       {dir.plain("a.el", ""), dir.plain("b.wel", "\n# none\n"), dir.packed("c.el.zst", ""),
        dir.plain("d.csv", "source,target\n"), dir.packed("e.csv.xz", "source,target,weight\n")}) {
    EXPECT_EQ(read_vertices(path, names), lines());
  }
  EXPECT_THROW(static_cast<void>(read_vertices(dir.plain("f.el.gz", ""), names)), input_error);
}

TEST(ReadEdgesOfAGraph, AreRefusedWithTheirLine) {
  const folder dir;
  const labels names(3);
  const auto refused = [&](const std::string& name, const std::string& text) {
    const auto path = dir.plain(name, text);
    return test::sentence_of(path, [&] { static_cast<void>(read_vertices(path, names, 3)); });
  };
  EXPECT_EQ(refused("a.el", "0 1\n1 3\n"), "a.el:2: expected an id of the graph, found '3'");
  EXPECT_EQ(refused("b.el", "0 1\nx 1\n"), "b.el:2: expected an id of the graph, found 'x'");
  EXPECT_TRUE(refused("c.el", "0 1\n1\n").starts_with("c.el:2: expected another field"));
  EXPECT_TRUE(refused("d.el", "0 1\n1 2 3\n").starts_with("d.el:2: expected the end"));
  EXPECT_TRUE(refused("e.wel", "0 1 2\n1 2 y\n").starts_with("e.wel:2: expected a weight"));
  EXPECT_EQ(refused("f.el", "0 1\n1 2\n0 1\n1 2\n"), "f.el: has 4 edges, expected at most 3");
}

}  // namespace
}  // namespace cairn::graph::io::read_edges_test
