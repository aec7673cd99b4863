// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/core/world.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/graph/load.hpp>

#include <support/places.hpp>
#include <support/temporary_folder.hpp>

namespace cairn::graph::balanced_partition_test {
namespace {

using arcs = std::multiset<std::pair<std::uint64_t, std::uint64_t>>;

/// All ranks' arcs, on every rank.
arcs arcs_of(world& w, const any_graph& any) {
  std::vector<std::uint64_t> mine;
  std::visit(
      [&](const auto& g) {
        EXPECT_EQ(g.out().first(), g.partition().first(w.rank()));
        EXPECT_EQ(g.out().last(), g.partition().last(w.rank()));
        for (auto v = g.out().first(); v < g.out().last(); ++v) {
          for (const auto u : g.out().neighbors(v)) {
            mine.push_back(v);
            mine.push_back(u);
          }
        }
      },
      any);
  const auto all = w.all_gather_values<std::uint64_t>(mine);
  arcs found;
  for (std::size_t i = 0; i < all.size(); i += 2) found.emplace(all[i], all[i + 1]);
  return found;
}

void expect_balance(world& w, const any_graph& any) {
  std::visit(
      [&](const auto& g) {
        const auto mine = g.out().num_edges() + g.out().num_rows();
        const auto all = w.sum(mine);
        const auto longest = w.max(g.out().max_degree()) + 1;
        EXPECT_LE(mine, all / static_cast<std::uint64_t>(w.size()) + longest + 1);
        EXPECT_EQ(g.partition().equal_blocks(), w.size() == 1);
      },
      any);
}

class BalancedPartition : public ::testing::TestWithParam<support::place> {};

TEST_P(BalancedPartition, IsTheSameGraphInBlocksOfEqualWork) {
  const support::temporary_folder dir;
  const auto path = dir / "g.cairn";
  // Ordered by degree, the first vertices have most of the edges.
  const generator drawn{.kind = kronecker_graph{.scale = 7}, .seed = 3};
  support::place{support::place::network::rings, 1, 1}.run([&](world& w) {
    const auto g = load(w, drawn, {.order = order_kind::degree}).graph;
    io::write_native(w.pool(), path, io::native_view(std::get<0>(g)));
  });
  GetParam().run([&](world& w) {
    for (const auto order : {order_kind::degree, order_kind::file}) {
      const load_options equal{.order = order};
      auto balanced = equal;
      balanced.build.partition = partition_kind::edges;
      const auto g = load(w, drawn, balanced).graph;
      EXPECT_EQ(arcs_of(w, g), arcs_of(w, load(w, drawn, equal).graph));
    }
    const auto native = load(w, path, {.build = {.partition = partition_kind::edges}}).graph;
    EXPECT_EQ(arcs_of(w, native), arcs_of(w, load(w, path).graph));
    expect_balance(w, native);
  });
}

TEST_P(BalancedPartition, OfADirectedGraphHasItsInEdgesToo) {
  const support::temporary_folder dir;
  const auto path = dir / "g.el";
  std::string text;
  for (int i = 0; i < 60; ++i) {
    text += std::to_string(i % 4) + " " + std::to_string(i * 7 % 40) + "\n";
  }
  std::ofstream(path) << text;
  GetParam().run([&](world& w) {
    const build_options build{.inverse = true, .partition = partition_kind::edges};
    const auto g = load(w, path, {.build = build}).graph;
    expect_balance(w, g);
    std::visit(
        [&](const auto& graph) {
          EXPECT_EQ(w.sum(graph.in().num_edges()), 60u);
          EXPECT_EQ(graph.in().first(), graph.out().first());
          EXPECT_EQ(graph.in().last(), graph.out().last());
        },
        g);
  });
}

INSTANTIATE_TEST_SUITE_P(Everywhere, BalancedPartition, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

}  // namespace
}  // namespace cairn::graph::balanced_partition_test
