// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bench/figures/source_lines.hpp>
#include <support/temporary_folder.hpp>

namespace cairn::bench::source_lines_test {
namespace {

using support::temporary_file;

TEST(SourceLines, AreThoseBetweenMarksOfAFileThatHasMarks) {
  const temporary_file plain("one\n\n  // comment\ntwo\n");
  const temporary_file marked(
      "report\n// lines: begin\none\n// comment\n\ntwo\n  // lines: end\nmain\n"
      "  // lines: begin\nthree\n  // lines: end\nend\n");
  EXPECT_EQ(source_lines({plain.path}), 2u);
  EXPECT_EQ(source_lines({marked.path}), 3u);
  EXPECT_EQ(source_lines({plain.path, marked.path}), 5u);
}

}  // namespace
}  // namespace cairn::bench::source_lines_test
