// SPDX-License-Identifier: Apache-2.0
#include <cairn/graph/io/metis.hpp>

#include "files.hpp"

namespace cairn::graph::io::metis_test {
namespace {

using test::folder;
using test::line;
using test::lines_of;
using test::read;

using lines = std::vector<line>;

class Metis : public testing::Test {
 protected:
  raw_edges read_text(const std::string& text, std::size_t block_bytes = 4096) {
    return read(here_.plain("g.graph", text), 2, block_bytes);
  }
  std::string sentence_of(const std::string& text) {
    return test::sentence(here_.plain("g.graph", text));
  }
  folder here_;
};

TEST_F(Metis, EachUndirectedEdgeIsKeptOnce) {
  const auto edges = read_text(" % c\n4 3\n2 3\n1\n\t% in between\n1 4 \n3\n");
  EXPECT_EQ(lines_of(edges), (lines{{0, 1, 1}, {0, 2, 1}, {2, 3, 1}}));
  EXPECT_FALSE(edges.directed);
  EXPECT_EQ(edges.declared_vertices, 4u);
}

TEST_F(Metis, ABlankLineIsAVertexWithoutEdges) {
  EXPECT_EQ(lines_of(read_text("4 1\n\n4\n\n2\n")), (lines{{1, 3, 1}}));
  EXPECT_EQ(lines_of(read_text("4 1\r\n \r\n4\r\n\r\n2\r\n\r\n")), (lines{{1, 3, 1}}));
}

TEST_F(Metis, TheFormatSaysWhatStandsInAList) {
  const lines plain{{0, 1, 1}, {1, 2, 1}};
  const lines weighted{{0, 1, 5}, {1, 2, 6}};
  EXPECT_EQ(lines_of(read_text("3 2 0\n2\n1 3\n2\n")), plain);
  EXPECT_EQ(lines_of(read_text("3 2 1\n2 5\n1 5 3 6\n2 6\n")), weighted);
  EXPECT_EQ(lines_of(read_text("3 2 10\n9 2\n9 1 3\n9 2\n")), plain);
  EXPECT_EQ(lines_of(read_text("3 2 010 2\n9 8 2\n9 8 1 3\n9 8 2\n")), plain);
  EXPECT_EQ(lines_of(read_text("3 2 11\n9 2 5\n9 1 5 3 6\n9 2 6\n")), weighted);
  EXPECT_EQ(lines_of(read_text("3 2 100\n7 2\n7 1 3\n7 2\n")), plain);
  EXPECT_EQ(lines_of(read_text("3 2 111\n7 9 2 5\n7 9 1 5 3 6\n7 9 2 6\n")), weighted);
}

TEST_F(Metis, FormatHundredWithoutSizesIsSeenByCounting) {
  EXPECT_EQ(lines_of(read_text("3 2 100\n2\n1 3\n2\n")), (lines{{0, 1, 1}, {1, 2, 1}}));
  // A cycle, where the numbers less the sizes would be as many as the edges.
  EXPECT_EQ(lines_of(read_text("3 3 100\n2 3\n1 3\n1 2\n")),
            (lines{{0, 1, 1}, {0, 2, 1}, {1, 2, 1}}));
}

TEST_F(Metis, SelfLoopsMayStandOnceOrTwiceInTheirList) {
  EXPECT_EQ(lines_of(read_text("2 2\n1 2\n1\n")), (lines{{0, 0, 1}, {0, 1, 1}}));
  EXPECT_EQ(lines_of(read_text("2 2\n1 1 2\n1\n")), (lines{{0, 0, 1}, {0, 1, 1}}));
  EXPECT_EQ(lines_of(read_text("2 3 1\n1 4 1 4 2 5 1 6 1 6\n1 5\n")),
            (lines{{0, 0, 4}, {0, 1, 5}, {0, 0, 6}}));
  EXPECT_EQ(lines_of(read_text("1 2 1\n1 4 1 5 1 5 1 4\n")), (lines{{0, 0, 4}, {0, 0, 5}}));
}

TEST_F(Metis, LoopsOfWhichTheHeaderCountsHalfAreListedTwiceWithTheSameWeight) {
  for (const auto* const text : {"2 1\n1\n2\n", "1 1 1\n1 4 1 5\n", "2 2\n1 1 1\n2\n"}) {
    EXPECT_EQ(sentence_of(text),
              "g.graph:1: the header counts half of the self-loops, but a vertex does not list one "
              "twice with the same weight");
  }
}

TEST_F(Metis, AsManyEntriesAsTheHeaderHasEdgesMeanDirectedEdges) {
  const auto edges = read_text("3 3 1\n2 5 3 6\n\n1 7\n");
  EXPECT_TRUE(edges.directed);
  EXPECT_EQ(lines_of(edges), (lines{{0, 1, 5}, {0, 2, 6}, {2, 0, 7}}));
}

TEST_F(Metis, ListsThatContradictTheHeaderAreRefused) {
  EXPECT_EQ(sentence_of("3 3\n2\n1 3\n2\n"),
            "g.graph:1: the header declares 3 undirected edges, but the lists hold 4 entries "
            "instead of two for each");
  EXPECT_EQ(sentence_of("4 2\n2\n1 3\n2\n"),
            "g.graph:1: the header declares 4 vertices, but the file holds 3 lists");
  EXPECT_EQ(sentence_of("3 2\n2\n1 3\n2\n1\n"),
            "g.graph:5: the file has more lists than the 3 vertices that its header declares");
  EXPECT_EQ(sentence_of("3 2\n2 3\n1\n2\n"),
            "g.graph:1: an edge is in the list of only one of its vertices, or has two different "
            "weights");
  EXPECT_EQ(sentence_of("3 2 1\n2 5\n1 5 3 6\n2 7\n"),
            "g.graph:1: an edge is in the list of only one of its vertices, or has two different "
            "weights");
}

TEST_F(Metis, BadListsAreRefusedWithTheirLine) {
  EXPECT_EQ(sentence_of("3 2\n2\n1 0\n2\n"),
            "g.graph:3: the id 0 is out of range: the header declares 3 vertices, counted from "
            "1");
  EXPECT_EQ(sentence_of("3 2\n2\n1 4\n2\n").substr(0, 38),
            "g.graph:3: the id 4 is out of range: t");
  EXPECT_EQ(sentence_of("3 2\n2\n1 x\n2\n"), "g.graph:3: expected an id (an integer), found 'x'");
  EXPECT_EQ(sentence_of("3 2 1\n2 5\n1 5 3\n2 6\n"),
            "g.graph:3: expected the edge's weight, found the end of the line");
  EXPECT_EQ(sentence_of("3 2 10\n2\n\n2\n"),
            "g.graph:3: expected the vertex's size or weight before its list, found the end of "
            "the line");
  EXPECT_EQ(sentence_of("3 2 2\n2\n1 3\n2\n"),
            "g.graph:1: expected a format of three digits 0 or 1, found 2");
}

TEST_F(Metis, TheEdgesDoNotDependOnBlocksOrCompression) {
  // A wheel: one long list, and many short ones.
  constexpr int num_leaves = 300;
  std::string text = std::to_string(num_leaves + 1) + ' ' + std::to_string(2 * num_leaves) + "\n";
  for (int i = 0; i < num_leaves; ++i) text += std::to_string(i + 2) + ' ';
  text += '\n';
  for (int i = 0; i < num_leaves; ++i) {
    text += "1 " + std::to_string((i + 1) % num_leaves + 2) + ' ' +
            std::to_string((i + num_leaves - 1) % num_leaves + 2);
    text += i % 7 == 0 ? "\n % comment\n" : "\n";
  }
  const auto expected = lines_of(read_text(text));
  ASSERT_EQ(expected.size(), 2u * num_leaves);
  for (const std::string ending : {"", ".gz", ".zst"}) {
    const auto path = here_.packed("h.graph" + ending, text);
    for (const std::size_t block : {1u, 13u, 500u}) {
      EXPECT_EQ(lines_of(read(path, 2, block)), expected) << ending << ' ' << block;
    }
  }
}

}  // namespace
}  // namespace cairn::graph::io::metis_test
