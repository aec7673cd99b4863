// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/load.hpp>

#include <support/num_schedules.hpp>
#include <support/on_ranks.hpp>
#include <support/peak_memory.hpp>
#include <support/places.hpp>
#include <support/temporary_folder.hpp>

#include "text_edges.hpp"

namespace cairn::graph::order_test {
namespace {

constexpr order_kind all_orders[] = {order_kind::file, order_kind::degree, order_kind::hash,
                                     order_kind::random};

/// All ranks' edges, on every rank.
text_edges edges_of(world& w, const any_graph& g) {
  std::string mine;
  for (const auto& [u, v] : text_edges_of(g)) mine += u + " " + v + "\n";
  text_edges all;
  for (const auto& part : w.all_gather(mine)) {
    std::istringstream lines(part);
    for (std::string u, v; lines >> u >> v;) all.emplace(u, v);
  }
  return all;
}

std::uint64_t degree_at(world& w, const any_graph& any, std::uint64_t v) {
  return std::visit(
      [&](const auto& g) {
        return w.sum(g.partition().owner(v) == w.rank() ? g.out().degree(v) : 0);
      },
      any);
}

const labels& names_of(const any_graph& any) {
  return std::visit([](const auto& g) -> const labels& { return g.labels(); }, any);
}

class Orders : public ::testing::TestWithParam<support::place> {
 protected:
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(here_ / name) << text;
    return here_ / name;
  }
  support::temporary_folder here_;
};

TEST_P(Orders, KeepTheEdgesByTheirIds) {
  std::string text = "c\np sp 30 90\n";
  text_edges expected;
  for (int i = 0; i < 90; ++i) {
    const auto u = std::to_string(1 + i * i % 30), v = std::to_string(1 + i * 7 % 30);
    text += "a " + u + " " + v + " 5\n";
    expected.emplace(u, v);
  }
  const auto path = file("g.gr", text);
  GetParam().run([&](world& w) {
    std::vector<std::vector<std::uint64_t>> ids;
    for (const auto kind : all_orders) {
      const auto g =
          load(w, path, {.read = {.block_bytes = 64}, .order = kind, .order_seed = 3}).graph;
      EXPECT_EQ(edges_of(w, g), expected);
      const auto& names = names_of(g);
      auto& of_vertex = ids.emplace_back();
      for (std::uint64_t v = 0; v < names.size(); ++v) {
        of_vertex.push_back(names.id_of(v));
        EXPECT_EQ(names.vertex_of(names.text_of(v)), v);
        EXPECT_EQ(names.vertex_at(names.position_of(v)), v);
      }
      EXPECT_EQ(names.vertex_of(std::uint64_t{0}), std::nullopt);
      EXPECT_EQ(names.vertex_of("31"), std::nullopt);
      EXPECT_EQ(names.vertex_of("1x"), std::nullopt);
    }
    EXPECT_TRUE(std::is_sorted(ids[0].begin(), ids[0].end()));
    for (int i = 1; i < 4; ++i) EXPECT_NE(ids[static_cast<std::size_t>(i)], ids[0]);
    EXPECT_NE(ids[2], ids[3]);
  });
}

TEST_P(Orders, ByDegreeDescendsOnAnyNumberOfRanks) {
  std::vector<std::uint64_t> alone;
  support::place{support::place::network::rings, 1, 1}.run([&](world& w) {
    const generator star{.kind = kronecker_graph{.scale = 8}, .seed = 5};
    const auto g = load(w, star, {.order = order_kind::degree}).graph;
    for (std::uint64_t v = 0; v < names_of(g).size(); ++v) alone.push_back(names_of(g).id_of(v));
  });
  const auto path = file("star.el", "1 2\n3 2\n4 2\n4 3\n9 9\n");
  GetParam().run([&](world& w) {
    const auto g =
        load(w, path, {.build = {.symmetrize = true}, .order = order_kind::degree}).graph;
    std::vector<std::string> ids;
    for (std::uint64_t v = 0; v < 5; ++v) ids.push_back(names_of(g).text_of(v));
    EXPECT_EQ(ids, (std::vector<std::string>{"2", "3", "4", "9", "1"}));
    EXPECT_EQ(degree_at(w, g, 0), 3u);
    const generator star{.kind = kronecker_graph{.scale = 8}, .seed = 5};
    const auto again = load(w, star, {.order = order_kind::degree}).graph;
    for (std::uint64_t v = 0; v < alone.size(); ++v) {
      EXPECT_EQ(names_of(again).id_of(v), alone[v]);
    }
  });
}

TEST_P(Orders, WordsAreVerticesInTheirOrder) {
  const auto path =
      file("words.el", "# c\nbob alice\nalice carol\r\n\ncarol, 17\n17\tbob\nzoë bob");
  const auto table = file("words.csv", "source,target,weight\nx,y,1\ny;z;2.5\n");
  GetParam().run([&](world& w) {
    for (const auto kind : all_orders) {
      const load_options options{.read = {.block_bytes = 16, .ids = io::id_kind::text},
                                 .order = kind};
      const auto g = load(w, path, options).graph;
      EXPECT_EQ(edges_of(w, g), (text_edges{{"bob", "alice"},
                                            {"alice", "carol"},
                                            {"carol", "17"},
                                            {"17", "bob"},
                                            {"zoë", "bob"}}));
      const auto& names = names_of(g);
      EXPECT_TRUE(names.textual());
      const char* const sorted[] = {"17", "alice", "bob", "carol", "zoë"};
      for (std::uint64_t p = 0; p < 5; ++p) {
        EXPECT_EQ(names.vertex_of(sorted[p]), names.vertex_at(p));
        EXPECT_EQ(names.text_of(names.vertex_at(p)), sorted[p]);
        EXPECT_EQ(names.id_of(names.vertex_at(p)), p);
      }
      EXPECT_EQ(names.vertex_of("dave"), std::nullopt);
      const auto weighted = load(w, table, options).graph;
      EXPECT_EQ(edges_of(w, weighted), (text_edges{{"x", "y"}, {"y", "z"}}));
    }
  });
}

TEST_P(Orders, BadWordsGetTheirSentence) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"a b\nc \"d\"\n", "2: expected an id"},
      {"a b\nc %d\n", "2: expected an id"},
      {"a b\nc\n", "2: expected another field"},
      {"a b 1\nc d x\n", "2: expected a"},
      {"a b\nc d e\n", "2: expected the end of the line"},
      {"a\n", "1: expected 2 or 3 columns"},
      {"a b\nc \x01\n", "2: expected an id"}};
  GetParam().run([&](world& w) {
    for (const auto& [text, sentence] : cases) {
      const auto path = file("bad" + std::to_string(w.rank()) + ".el", text);
      const auto mine = here_ / "bad0.el";
      w.barrier();
      try {
        static_cast<void>(load(w, mine, {.read = {.ids = io::id_kind::text}}));
        ADD_FAILURE() << text;
      } catch (const input_error& e) {
        EXPECT_NE(std::string(e.what()).find("bad0.el:" + sentence), std::string::npos) << e.what();
      }
      w.barrier();
    }
    const auto declared = file("a" + std::to_string(w.rank()) + ".gr", "p sp 1 1\na 1 1 1\n");
    w.barrier();
    EXPECT_THROW(static_cast<void>(load(w, here_ / "a0.gr", {.read = {.ids = io::id_kind::text}})),
                 usage_error);
  });
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Orders, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// A rank that gathers what all ranks count, or their ids, takes most of a GB here.
TEST(OrdersOnManyRanks, TakeLittleMemoryOnEachWhileTheyCount) {
  const support::temporary_folder here;
  const auto path = here / "sparse.el";
  {
    std::ofstream edges(path);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      edges << mix64(i) % 16'384 * 50 << ' ' << mix64(~i) % 16'384 * 50 << '\n';
    }
  }
  const auto before = support::peak_kib();
  support::on_simulated_ranks(
      64, 1, 1, [&](world& w) { static_cast<void>(load(w, path, {.order = order_kind::degree})); });
  if (!support::sanitized) {
    EXPECT_LT(support::peak_kib() - before, 400 << 10) << "KiB";
  }
}

TEST(Labels, OfAnyOrderGiveTheVertexOfEachId) {
  const std::vector<std::uint64_t> ids{30, 10, 20, 5};
  const auto names = labels::by_vertex(ids);
  for (std::uint64_t v = 0; v < ids.size(); ++v) {
    EXPECT_EQ(names.id_of(v), ids[v]);
    EXPECT_EQ(names.vertex_of(ids[v]), v);
  }
  EXPECT_FALSE(names.ascend());
  const auto twice = names.reordered(vertex_order::scrambled({.size = 4, .seed = 9}));
  for (std::uint64_t v = 0; v < ids.size(); ++v) {
    EXPECT_EQ(twice.vertex_of(ids[v]),
              vertex_order::scrambled({.size = 4, .seed = 9}).vertex_at(v));
  }
  EXPECT_THROW(static_cast<void>(labels::by_vertex(std::vector<std::uint64_t>{1, 2, 1})),
               contract_violation);
}

TEST(Labels, OfConsecutiveIdsTakeNoTables) {
  const labels one(consecutive_ids{.first = 1, .size = 4});
  EXPECT_FALSE(one.identity());
  EXPECT_EQ(one.id_of(3), 4u);
  EXPECT_EQ(one.vertex_of(std::uint64_t{4}), 3u);
  EXPECT_EQ(one.vertex_of(std::uint64_t{0}), std::nullopt);
  EXPECT_EQ(one.vertex_of(std::uint64_t{5}), std::nullopt);
  EXPECT_EQ(labels(std::vector<std::uint64_t>{7, 8, 9}).vertex_of("9"), 2u);
  EXPECT_TRUE(labels(std::vector<std::uint64_t>{0, 1, 2}).identity());
}

}  // namespace
}  // namespace cairn::graph::order_test
