// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <cairn/graph/io/vertex_lines.hpp>

#include "files.hpp"

namespace cairn::graph::io::vertex_lines_test {
namespace {

using test::folder;

vertex_lines read(const std::string& path, const labels& names) {
  const auto pool = task::make_threads({.workers = 2});
  return read_vertex_lines(*pool, path, names);
}

TEST(VertexLines, AreReadWithEverySeparatorAndCompression) {
  const folder files;
  const labels names(std::vector<std::uint64_t>{3, 5, 70});
  for (const auto& [ending, separator] :
       {std::pair(".csv", ','), std::pair(".tsv.gz", '\t'), std::pair(".txt.zst", ' ')}) {
    for (const std::string text : {"5 70 5\n3\n70 3\n", "5 70 5\r\n3\r\n70 3",
                                   "\xef\xbb\xbf"
                                   "5 70 5\n3\n70 3\n"}) {
      auto separated = text;
      std::ranges::replace(separated, ' ', separator);
      const auto rows = read(files.packed(std::string("w") + ending, separated), names);
      EXPECT_EQ(rows.ends, (std::vector<std::uint64_t>{3, 4, 6}));
      EXPECT_EQ(rows.vertices, (std::vector<std::uint64_t>{1, 2, 1, 0, 2, 0}));
    }
  }
}

TEST(VertexLines, OfSeveralBlocksKeepTheirOrder) {
  const folder files;
  constexpr std::uint64_t n = 700'000;  // 9.6 MB
  std::string text;
  for (std::uint64_t v = 0; v < n; ++v) {
    text += std::to_string(v) + ' ' + std::to_string(n - 1 - v) + '\n';
  }
  const auto rows = read(files.plain("w.txt", text), labels(n));
  ASSERT_EQ(rows.ends.size(), n);
  for (std::uint64_t v = 0; v < n; ++v) {
    ASSERT_EQ(rows.ends[v], 2 * v + 2);
    ASSERT_EQ(rows.vertices[2 * v], v);
    ASSERT_EQ(rows.vertices[2 * v + 1], n - 1 - v);
  }
}

TEST(VertexLines, ThatAreMalformedAreRefusedWithTheirLine) {
  const folder files;
  for (const std::string line : {"", "1 x", "1 9", "1 ", " 1", "1  2", "1,2", "1\r2", "-1"}) {
    const auto path = files.plain("w.txt", "0 1\n" + line + "\n2\n");
    const auto said = test::sentence_of(path, [&] { static_cast<void>(read(path, labels(3))); });
    EXPECT_TRUE(said.starts_with("w.txt:2: expected ")) << line << ": " << said;
  }
}

TEST(VertexLines, WithAnotherSeparatorSayWhichIsExpected) {
  const folder files;
  for (const auto& [name, line, says] :
       {std::tuple("w.csv", "0 1", "a comma between ids, found a space"),
        std::tuple("w.csv", "0;1", "a comma between ids, found a semicolon"),
        std::tuple("w.tsv", "0,1", "a tab between ids, found a comma"),
        std::tuple("w.txt", "0\t1", "a space between ids, found a tab"),
        std::tuple("w.txt", "0  1", "an id of the graph, found a blank")}) {
    const auto path = files.plain(name, line);
    const auto said = test::sentence_of(path, [&] { static_cast<void>(read(path, labels(3))); });
    EXPECT_EQ(said, std::string(name) + ":1: expected " + says);
  }
}

}  // namespace
}  // namespace cairn::graph::io::vertex_lines_test
