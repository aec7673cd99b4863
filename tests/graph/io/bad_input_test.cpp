// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

namespace cairn::graph::io::bad_input_test {
namespace {

using test::folder;
using test::sentence;

struct bad_file {
  const char* name;
  std::string text;
  const char* said;
};

const std::string mtx = "%%MatrixMarket matrix coordinate pattern general\n";

const std::vector<bad_file>& bad_files() {
  static const std::vector<bad_file> files{
      {"a.el", "0 1\n1 x\n", "a.el:2: expected an id (an integer), found 'x'"},
      {"b.el", "0 1\n\n1 -2\n", "b.el:3: expected an id, found the negative number '-2'"},
      {"c.el", "-1 2\n", "c.el:1: expected an id, found the negative number '-1'"},
      {"d.el", "0 1\n1 18446744073709551616\n",
       "d.el:2: the number '18446744073709551616' is too large: ids end at 2^64 - 2"},
      {"e.el", "# only\n% comments\n", "e.el:1: the file contains no edges"},
      {"f.el", "0 1\n2\n",
       "f.el:2: expected another number after a blank, found the end of the line"},
      {"g.el", "0 1\n2 3 4\n", "g.el:2: expected the end of the line, found '4'"},
      {"h.el", "0 1 5\n2 3\n",
       "h.el:2: expected another number after a blank, found the end of the line"},
      {"i.el", "0 1 2 3\n",
       "i.el:1: expected 2 or 3 columns (source, target and perhaps a weight), found 4"},
      {"j.el", "0\n",
       "j.el:1: expected 2 or 3 columns (source, target and perhaps a weight), found 1"},
      {"k.wel", "0 1\n", "k.wel:1: expected 3 columns (source, target, weight), found 2"},
      {"l.wel", "0 1 2\n0 2 nan\n", "l.wel:2: the weight 'nan' is not finite"},
      {"m.wel", "0 1 2\n0 2 -inf\n", "m.wel:2: the weight '-inf' is not finite"},
      {"n.wel", "0 1 2\n0 2 1e999\n", "n.wel:2: the weight '1e999' is beyond the range of doubles"},
      {"o.wel", "0 1 2\n0 2 heavy\n", "o.wel:2: expected a weight (a number), found 'heavy'"},
      {"p.el", "0 1\n2.5 3\n", "p.el:2: expected a blank after an id (an integer), found '.5'"},
      {"q.el",
       std::string("\x7f"
                   "ELF\x02\x01\0\0",
                   8) +
           "\n",
       "q.el:1: expected an id (an integer), found '\\x7fELF\\x02\\x01\\x00\\x00'"},
      {"r.el", std::string("0 1\n\0\0\0\0", 8),
       "r.el:2: expected an id (an integer), found '\\x00\\x00\\x00\\x00'"},
      {"a.csv", "source,target\n", "a.csv:1: the file contains no edges"},
      {"b.csv", "target,source\n1,2\n",
       "b.csv:1: column 1 is named 'target': expected source,target or source,target,weight"},
      {"c.csv", "source,target,weight\n1,2\n",
       "c.csv:2: expected 3 columns as the header has, found 2"},
      {"d.csv", "id,source,target,weight\n1,2,3,4\n",
       "d.csv:1: expected 2 or 3 columns (source, target and perhaps a weight), found 4"},
      {"e.csv", "source,target\n1,2\n3;x\n", "e.csv:3: expected an id (an integer), found 'x'"},
      {"f.csv", "source,target\n1,2\n3,\n",
       "f.csv:3: expected another number after a blank, found the end of the line"},
      {"g.csv", "-1,2\n2,3\n", "g.csv:1: expected an id, found the negative number '-1'"},
      {"h.csv", "+1,2\n2,3\n", "h.csv:1: expected an id (an integer), found '+1'"},
      {"i.csv", "# a comment\n\"1\",\"2\"\n",
       "i.csv:2: expected an id (an integer), found '\"1\"'"},
      {"j.csv", "1,\"2\"\n3,4\n", "j.csv:1: expected an id (an integer), found '\"2\"'"},
      {"k.csv", "a,.5\n3,4\n", "k.csv:1: expected an id (an integer), found 'a'"},
      {"a.mtx", "1 2\n",
       "a.mtx:1: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY', found '1 2'"},
      {"v.mtx", "%%MatrixMarket matrix coordinate pattern \r\n2 2 1\n1 2\n",
       "v.mtx:1: expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY', found "
       "'%%MatrixMarket matrix coordinate pattern'"},
      {"b.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
       "b.mtx:1: a dense matrix ('array') is no graph: expected 'coordinate'"},
      {"c.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 0 0\n",
       "c.mtx:1: a complex matrix cannot be a graph: expected pattern, integer or real"},
      {"d.mtx", "%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 0\n",
       "d.mtx:1: a Hermitian matrix cannot be a graph: expected general, symmetric or "
       "skew-symmetric"},
      {"e.mtx", mtx, "e.mtx:1: the file ends before its header does"},
      {"f.mtx", mtx + "2 3 1\n1 1\n",
       "f.mtx:2: a graph's matrix is square, but this one has 2 rows and 3 columns"},
      {"g.mtx", mtx + "2 2 3\n1 1\n2 2\n",
       "g.mtx:2: the header declares 3 entries, but the file holds 2"},
      {"h.mtx", mtx + "2 2 1\n1 1\n2 2\n",
       "h.mtx:2: the header declares 1 entries, but the file holds 2"},
      {"i.mtx", mtx + "2 2 1000000000000\n1 1\n",
       "i.mtx:2: the header declares 1000000000000 entries, but the file holds 1"},
      {"j.mtx", mtx + "2 2 1\n0 1\n",
       "j.mtx:3: the id 0 is out of range: this format counts vertices from 1"},
      {"k.mtx", mtx + "2 2 1\n1 3\n",
       "k.mtx:3: the id 3 is out of range: the header declares 2 vertices"},
      {"l.mtx", mtx + "0 0 0\n", "l.mtx:2: the header declares no vertices"},
      {"m.mtx", mtx + "2 2 1\n1,2\n",
       "m.mtx:3: expected a blank after an id (an integer), found ','"},
      {"n.mtx", mtx + "2 2 1\n1 2 3\n", "n.mtx:3: expected the end of the line, found '3'"},
      {"o.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 0.5\n2 1\n",
       "o.mtx:4: expected another number after a blank, found the end of the line"},
      {"p.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n2 1\n3 1\n1 2\n",
       "p.mtx:5: the matrix is declared symmetric and lists entries below the diagonal and above "
       "it: expected one side only"},
      {"q.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1\n3 3 1\n",
       "q.mtx:4: an entry on the diagonal of a skew-symmetric matrix"},
      {"r.mtx", mtx + "-2 -2 1\n1 1\n", "r.mtx:2: expected an id, found the negative number '-2'"},
      {"s.mtx", mtx + "99999999999999999999 99999999999999999999 1\n1 1\n",
       "s.mtx:2: the number '99999999999999999999' is too large: ids end at 2^64 - 2"},
      {"t.mtx",
       "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 5000000000\n1 2 1.5\n",
       "t.mtx:4: expected a weight that is an integer, found '1.5' (edge from 1 to 2)"},
      {"u.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 1e3\n",
       "u.mtx:3: expected a weight that is an integer, found '1e3' (edge from 1 to 2)"},
      {"a.max", "p max 3 2\nn 1 s\n\nc\na 1 2 1\nn 3 t\na 2 3 1\n",
       "a.max:6: a line 'n ...' is allowed only before the first arc of 'p max'"},
      {"b.max", "p max 0 0\nn 1 s\n", "b.max:1: the header declares no vertices"},
      {"c.max", "p max 3 1\nn 1 q\na 1 2 3\n",
       "c.max:2: expected 'n ID s' or 'n ID t', found 'n 1 q'"},
      {"d.max", "p max 3 1\nn 1 s\nn 4 t\na 1 2 3\n",
       "d.max:3: expected an id from 1 to 3, found 4"},
      {"e.max", "p max 3 1\nn 1 s\nn 2 s\na 1 2 3\n", "e.max:3: a second source"},
      {"f.max", "p max 3 1\nnode 1 s\na 1 2 3\n",
       "f.max:2: expected 'n ID s' or 'n ID t', found 'node 1 s'"},
      {"a.gr", "c\na 1 2 3\n",
       "a.gr:2: expected 'p sp VERTICES ARCS' (or p max, p tw, p edge), found 'a 1 2 3'"},
      {"b.gr", "p sp 2 2\na 1 2 3\n",
       "b.gr:1: the header declares 2 entries, but the file holds 1"},
      {"c.gr", "p sp 2 1\na 1 3 3\n",
       "c.gr:2: the id 3 is out of range: the header declares 2 vertices"},
      {"d.gr", "p sp 2 1\na 0 1 3\n",
       "d.gr:2: the id 0 is out of range: this format counts vertices from 1"},
      {"e.gr", "p sp 2 1\na 1 2\n",
       "e.gr:2: expected another number after a blank, found the end of the line"},
      {"f.gr", "p sp 2 1\np sp 2 1\n",
       "f.gr:2: a second problem line 'p ...': there can be only one"},
      {"g.gr", "p sp 2 1\ne 1 2\n",
       "g.gr:2: expected an arc ('a SOURCE TARGET WEIGHT') or a comment ('c ...'), found 'e'"},
      {"h.gr", "p cut 2 1\ne 1 2\n",
       "h.gr:1: expected 'p sp VERTICES ARCS' (or p max, p tw, p edge), found 'p cut 2 1'"},
      {"a.graph", "% nothing\n", "a.graph:1: the file ends before its header does"},
      {"b.graph", "3\n1\n",
       "b.graph:1: expected 'VERTICES EDGES [FORMAT [CONSTRAINTS]]', found 1 numbers"},
      {"c.graph", "1000000000000 3\n1\n",
       "c.graph:1: the header declares 1000000000000 vertices, but the file holds 1 lists"},
      {"a.xml", "<graph/>\n",
       "a.xml: the name must end in .txt, .el, .wel, .csv, .mtx, .gr, .max, .col, .graph or .cairn "
       "(then .gz, .zst or .xz if compressed)"},
  };
  return files;
}

TEST(BadInput, EveryMalformedFileGetsItsSentence) {
  const folder dir;
  for (const auto& file : bad_files()) {
    EXPECT_EQ(sentence(dir.plain(file.name, file.text)), file.said);
  }
}

TEST(BadInput, LinesAreRightBehindCompressionAndInLaterBlocks) {
  const folder dir;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + " 1\n";
  for (const std::string ending : {"", ".gz", ".zst", ".xz"}) {
    const auto path = dir.packed("a.el" + ending, text + "5 z\n" + text);
    const auto said = test::sentence_of(path, [&] { static_cast<void>(test::read(path, 2, 100)); });
    EXPECT_EQ(said, "a.el" + ending + ":1001: expected an id (an integer), found 'z'");
  }
}

TEST(BadInput, FilesThatAreNoneAreNamed) {
  const folder dir;
  EXPECT_EQ(sentence(dir / "none.el"), "none.el: cannot be opened (No such file or directory)");
  EXPECT_EQ(sentence(dir.plain("empty.el", "")), "empty.el: is empty");
  EXPECT_EQ(sentence(dir.packed("empty.el.gz", "")), "empty.el.gz:1: the file contains no edges");
  std::filesystem::create_directory(dir / "folder.el");
  EXPECT_EQ(sentence(dir / "folder.el"), "folder.el: is a directory, not a file");
}

TEST(BadInput, CompressedDataThatIsCutOrCorruptIsToldFromBadText) {
  const folder dir;
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += std::to_string(i * 7919 % 5000) + ' ' + std::to_string(i) + '\n';
  for (const std::string ending : {".gz", ".zst", ".xz"}) {
    const auto whole = test::bytes_of(dir.packed("whole.el" + ending, text));
    auto said = sentence(dir.plain("cut.el" + ending, whole.substr(0, whole.size() / 2)));
    EXPECT_NE(said.find("ends too early: the file is truncated"), std::string::npos) << said;
    EXPECT_EQ(said.find("cut.el" + ending + ": at byte "), 0u) << said;
    auto changed = whole;
    changed[whole.size() / 2] = static_cast<char>(~changed[whole.size() / 2]);
    said = sentence(dir.plain("changed.el" + ending, changed));
    EXPECT_NE(said.find("data is corrupt"), std::string::npos) << said;
  }
}

TEST(BadInput, ALineWithoutEndIsNotReadAsAHeader) {
  const folder dir;
  const auto said = sentence(dir.plain("a.mtx", std::string(3 << 20, 'x')));
  EXPECT_EQ(said, "a.mtx:1: the line is longer than 1 MiB, the maximum for a header or an edge");
}

TEST(BadInput, WhatComesBeforeTheFirstEdgeIsLookedThroughOnlySoFar) {
  const folder dir;
  std::string comments;
  while (comments.size() < (31u << 20)) comments += "# " + std::string(1000, 'c') + '\n';
  EXPECT_EQ(test::read(dir.packed("a.el.gz", comments + "1 2\n")).num_edges(), 1u);
  while (comments.size() < (32u << 20)) comments += "# " + std::string(1000, 'c') + '\n';
  for (const std::string name : {"b.el", "b.el.gz", "b.mtx.zst", "b.gr.xz"}) {
    const auto said = sentence(dir.packed(name, comments + "1 2\n"));
    if (name.starts_with("b.el")) {
      EXPECT_EQ(said, name + ":1: the first 32 MiB contain neither a header nor an edge");
    }
    EXPECT_EQ(said.find(name + ":1: "), 0u) << said;
  }
}

TEST(BadInput, ALineOfACompressedFileTakesNoMoreMemoryThanItsEdgesDo) {
  const folder dir;
  const std::string blanks(9 << 20, ' ');
  const auto longer = [](const std::string& name, int line, const std::string& bytes) {
    return name + ':' + std::to_string(line) + ": the line is longer than " + bytes +
           " bytes, the maximum for this file";
  };
  EXPECT_EQ(sentence(dir.packed("a.el.gz", "1 2\n" + blanks + "3 4\n")),
            longer("a.el.gz", 2, "1048576"));
  EXPECT_EQ(sentence(dir.packed("a.graph.gz", "2 1\n2\n1" + blanks + "\n")),
            longer("a.graph.gz", 3, "1048672"));
  // A star: the list of its centre is long for a good reason.
  std::string star = "400001 400000\n", leaves;
  for (int v = 2; v <= 400'001; ++v) {
    star += std::to_string(v) + ' ';
    leaves += "1\n";
  }
  EXPECT_EQ(test::read(dir.packed("star.graph.gz", star + '\n' + leaves), 1, 1 << 16).num_edges(),
            400'000u);
}

TEST(BadInput, ANativeFileIsNoListOfEdges) {
  const folder dir;
  EXPECT_EQ(sentence(dir.plain("a.cairn", "x")),
            "a.cairn: a .cairn file holds a built graph, not a list of edges");
}

}  // namespace
}  // namespace cairn::graph::io::bad_input_test
