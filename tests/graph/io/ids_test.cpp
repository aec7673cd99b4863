// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <cairn/core/world.hpp>
#include <cairn/graph/io/edge_list.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/graph/io/table.hpp>
#include <cairn/graph/load.hpp>

#include <support/places.hpp>

#include "../text_edges.hpp"
#include "files.hpp"

namespace cairn::graph::io::ids_test {
namespace {

native_graph view_of(const any_graph& any) {
  return std::visit([](const auto& g) { return native_view(g); }, any);
}

const labels& names_of(const any_graph& any) {
  return std::visit([](const auto& g) -> const labels& { return g.labels(); }, any);
}

std::vector<std::string> ids_of(const any_graph& any) {
  std::vector<std::string> ids;
  for (std::uint64_t v = 0; v < names_of(any).size(); ++v) ids.push_back(names_of(any).text_of(v));
  return ids;
}

TEST(Ids, OfFormatsThatDeclareVerticesCountFromOne) {
  const test::folder dir;
  world w;
  for (const auto& path :
       {dir.plain("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 2\n2 1\n3 1\n"),
        dir.plain("a.graph", "4 2\n2 3\n1\n1\n\n"),
        dir.plain("a.gr", "c treewidth\np tw 4 2\n1 2\nc x\n3 1\n")}) {
    const auto g = load(w, path).graph;
    EXPECT_EQ(ids_of(g), (std::vector<std::string>{"1", "2", "3", "4"})) << path;
    EXPECT_EQ(text_edges_of(g), (text_edges{{"1", "2"}, {"2", "1"}, {"1", "3"}, {"3", "1"}}))
        << path;
    EXPECT_FALSE(std::get<0>(g).directed());
  }
  const auto flow =
      load(w, dir.plain("a.max", "p max 4 2\nn 1 s\nn 4 t\na 1 2 5\na 2 4 3\n")).graph;
  EXPECT_EQ(text_edges_of(flow), (text_edges{{"1", "2"}, {"2", "4"}}));
  EXPECT_TRUE(std::get<0>(flow).directed() && std::get<0>(flow).weighted());
}

TEST(Ids, OfPaceGraphsAreChecked) {
  const test::folder dir;
  EXPECT_EQ(test::sentence(dir.plain("a.gr", "p tw 2 1\n1 3\n")),
            "a.gr:2: the id 3 is out of range: the header declares 2 vertices");
  EXPECT_EQ(test::sentence(dir.plain("b.gr", "p tw 2 2\n1 2\n")),
            "b.gr:1: the header declares 2 entries, but the file holds 1");
  EXPECT_EQ(test::sentence(dir.plain("c.gr", "p tw 2 1\na 1 2\n")),
            "c.gr:2: expected an id (an integer), found 'a'");
  EXPECT_EQ(test::sentence(dir.plain("d.gr", "p sp 2 1\nn 1 s\na 1 2 1\n")),
            "d.gr:2: a line 'n ...' is allowed only before the first arc of 'p max'");
}

TEST(Ids, SurviveConversionThereAndBack) {
  const test::folder dir;
  const auto matrix = dir.plain(
      "a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n2 1 .5\n3 1 2\n4 4 1\n");
  world w;
  const auto g = load(w, matrix).graph;
  write_native(w.pool(), dir / "a.cairn", view_of(g));
  const auto native = load(w, dir / "a.cairn").graph;
  EXPECT_EQ(ids_of(native), ids_of(g));
  EXPECT_EQ(text_edges_of(native), text_edges_of(g));
  write_matrix_market(w.pool(), dir / "b.mtx", view_of(native));
  EXPECT_EQ(test::bytes_of(dir / "b.mtx"),
            "%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n2 1 0.5\n3 1 2.0\n4 4 1.0\n");
  write_edge_list(w.pool(), dir / "a.el", view_of(native));
  EXPECT_EQ(text_edges_of(load(w, dir / "a.el").graph), text_edges_of(g));
  const auto zeros = load(w, dir.plain("z.el", "0 1\n")).graph;
  EXPECT_THROW(write_matrix_market(w.pool(), dir / "z.mtx", view_of(zeros)), usage_error);
}

TEST(Ids, OfAnyOrderAndTextsAreKeptByNativeFiles) {
  const test::folder dir;
  world w;
  const auto words = dir.plain("w.el", "bob alice\nalice carol\ncarol bob\nbob dave\n");
  const auto numbers = dir.plain("n.el", "3 700\n700 41\n41 3\n3 9\n");
  for (const auto& [path, kind] : {std::pair(words, id_kind::text), {numbers, id_kind::number}}) {
    for (const auto order : {order_kind::file, order_kind::degree, order_kind::random}) {
      const auto g = load(w, path, {.read = {.ids = kind}, .order = order, .order_seed = 2}).graph;
      for (const std::string name : {"a.cairn", "b.cairn.zst"}) {
        write_native(w.pool(), dir / name, view_of(g));
        const auto native = load(w, dir / name).graph;
        EXPECT_EQ(ids_of(native), ids_of(g));
        EXPECT_EQ(text_edges_of(native), text_edges_of(g));
        EXPECT_EQ(names_of(native).textual(), kind == id_kind::text);
        const auto again = load(w, dir / name, {.order = order_kind::degree}).graph;
        EXPECT_EQ(text_edges_of(again), text_edges_of(g));
        EXPECT_EQ(ids_of(again).front(), kind == id_kind::text ? "bob" : "3");
      }
    }
  }
}

TEST(Ids, ThatAreTextsNeedAHeaderInACsvFile) {
  const test::folder dir;
  world w;
  const load_options texts{.read = {.ids = id_kind::text}};
  for (const std::string header : {"source,target", "\"Src\";\"Dst\"", "from,to"}) {
    const auto g = load(w, dir.plain("a.csv", header + "\nbob,alice\n"), texts).graph;
    EXPECT_EQ(text_edges_of(g), (text_edges{{"bob", "alice"}})) << header;
  }
  // Without one the first edge would be lost.
  const auto bad = dir.plain("b.csv", "bob,alice\nalice,eve\n");
  EXPECT_EQ(test::sentence_of(bad, [&] { static_cast<void>(load(w, bad, texts)); }),
            "b.csv:1: with text ids a .csv file begins with a header such as "
            "source,target, src,dst or from,to; found 'bob'");
}

TEST(Ids, DamagedTextsOfANativeFileAreRefused) {
  const test::folder dir;
  world w;
  const auto g = load(w, dir.plain("w.el", "bob eve\n"), {.read = {.ids = id_kind::text}}).graph;
  for (const std::string to : {"bob", "e\"e"}) {  // a text twice, and no id
    word_list words;
    words.push_back("bob");
    words.push_back(to);
    auto view = view_of(g);
    view.words = &words;
    write_native(w.pool(), dir / "bad.cairn", view);
    EXPECT_THROW(static_cast<void>(load(w, dir / "bad.cairn")), input_error) << to;
  }
  const std::vector<std::uint64_t> same{5, 5};
  auto view = view_of(g);
  view.words = nullptr;
  view.labels = same;
  write_native(w.pool(), dir / "bad.cairn", view);
  EXPECT_THROW(static_cast<void>(load(w, dir / "bad.cairn")), input_error);
}

TEST(Ids, OfTablesMayBeTexts) {
  const test::folder dir;
  world w;
  word_list words;
  for (const char* word : {"17", "alice", "bob"}) words.push_back(word);
  const std::vector<std::uint64_t> ids{0, 1, 2}, parents{2, missing_value<std::uint64_t>, 0};
  const table_shape shape{
      .value_name = "parent", .num_rows = 3, .words = &words, .ids_as_values = true};
  for (const std::string name : {"p.csv", "p.tsv.gz"}) {
    table_writer file(dir / name, shape);
    file.append(ids, std::span<const std::uint64_t>(parents));
    file.finish();
    const auto rows = read_table(w.pool(), dir / name, 3, &words,
                                 [](std::string_view column) { return column == "parent"; });
    EXPECT_EQ(rows.ids, ids);
    EXPECT_EQ(std::get<0>(rows.values), parents);
  }
  EXPECT_EQ(test::bytes_of(dir / "p.csv"), "id,parent\n17,bob\nalice,\nbob,17\n");
  EXPECT_THROW(table_writer(dir / "p.npy", shape), usage_error);
  const auto bad = dir.plain("b.csv", "id,depth\nalice,1\neve,2\n");
  EXPECT_EQ(
      test::sentence_of(bad, [&] { static_cast<void>(read_table(w.pool(), bad, 3, &words)); }),
      "b.csv:3: expected an id of the graph, found 'eve'");
}

}  // namespace
}  // namespace cairn::graph::io::ids_test
