// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/pagerank.hpp>
#include <cairn/algo/stored_layout.hpp>
#include <cairn/algo/verify_pagerank.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/graph/io/native.hpp>
#include <cairn/graph/load.hpp>

#include <support/dist_graph.hpp>
#include <support/on_ranks.hpp>
#include <support/temporary_folder.hpp>

namespace cairn::algo::stored_layout_test {
namespace {

using support::plain_graph;

template <class Id>
void expect_same(const pull_layout<Id>& a, const pull_layout<Id>& b) {
  const auto x = attachment_of(a), y = attachment_of(b);
  EXPECT_EQ(x.name, y.name);
  EXPECT_TRUE(std::ranges::equal(x.bytes, y.bytes));
}

// Rows of every length up to 40, one longer than those that are sorted, and several segments.
plain_graph large_graph(bool directed) {
  constexpr std::uint64_t n = 70'000;
  random64 random(6);
  plain_graph g{"large graph", n, directed, {}};
  for (std::uint64_t v = 0; v < 4000; ++v) {
    for (std::uint64_t i = 0; i < v % 40; ++i) g.edges.push_back({v, random.below(n)});
  }
  for (std::uint64_t i = 0; i < 3000; ++i) g.edges.push_back({random.below(n), 7});
  return g;
}

template <class Id>
void store_and_read(const plain_graph& plain, int workers) {
  SCOPED_TRACE(plain.name);
  support::on_ranks(1, workers, [&](world& w) {
    auto g = support::share_of<Id>(plain, 0, 1);
    EXPECT_FALSE(stored_layout(w, g));
    using layout = pull_layout<Id>;
    for (const auto kind : {layout::kind::groups, layout::kind::tiles}) {
      const layout built(w, g, kind);
      g.attach(attachment_of(built));
      const auto read = stored_layout(w, g);
      ASSERT_TRUE(read);
      EXPECT_EQ(read->tiled(), built.tiled());
      expect_same(*read, built);
      const pagerank_options opt{.sweep = pagerank_sweep::jacobi, .iterations = 3};
      const auto expected = pagerank<float>(w, g, opt, &built);
      const auto found = pagerank<float>(w, g, opt, &*read);
      EXPECT_TRUE(std::ranges::equal(found.rank.local(), expected.rank.local()));
    }
  });
}

TEST(StoredLayout, IsTheOneThatWasStored) {
  for (const auto& g : support::corner_graphs()) {
    if (g.n != 0) store_and_read<std::uint32_t>(g, 1);
  }
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto g = support::random_graph(seed);
    store_and_read<std::uint32_t>(g, 2);
    store_and_read<std::uint64_t>(g, 1);
  }
  store_and_read<std::uint32_t>(large_graph(false), 2);
  store_and_read<std::uint32_t>(large_graph(true), 2);
}

TEST(StoredLayout, LiesInANativeFileForOneRank) {
  const support::temporary_folder dir;
  for (const bool directed : {false, true}) {
    world w;
    const auto g = support::share_of<std::uint32_t>(large_graph(directed), 0, 1);
    const pull_layout<std::uint32_t> built(w, g);
    auto view = graph::io::native_view(g);
    view.attached = attachment_of(built);
    for (const std::string name : {"g.cairn", "g.cairn.zst"}) {
      graph::io::write_native(w.pool(), dir / name, view);
      support::on_ranks(1, 2, [&](world& one) {
        const auto loaded = graph::load(one, dir / name, {.build = {.inverse = true}}).graph;
        const auto read = stored_layout(one, std::get<0>(loaded));
        ASSERT_TRUE(read);
        expect_same(*read, built);
        // Where vertices are numbered anew it would be wrong.
        const graph::load_options other{.build = {.inverse = true},
                                        .order = graph::order_kind::degree};
        EXPECT_FALSE(stored_layout(one, std::get<0>(graph::load(one, dir / name, other).graph)));
      });
      support::on_ranks(2, 1, [&](world& two) {
        const auto loaded = graph::load(two, dir / name, {.build = {.inverse = true}}).graph;
        EXPECT_FALSE(stored_layout(two, std::get<0>(loaded)));
      });
    }
  }
}

// Where they pass as a layout they still are one of this graph: they differ in the order of rows.
TEST(StoredLayout, BytesChangedAtRandomAreRefusedOrALayoutOfTheGraph) {
  int refused = 0, read = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    random64 draw(seed);
    const auto plain = support::random_graph(seed % 20);
    if (plain.n == 0) continue;
    world w;
    auto g = support::share_of<std::uint32_t>(plain, 0, 1);
    using layout = pull_layout<std::uint32_t>;
    const layout built(w, g, seed % 2 == 0 ? layout::kind::groups : layout::kind::tiles);
    const auto whole = attachment_of(built);
    const auto bytes =
        std::make_shared<std::vector<std::byte>>(whole.bytes.begin(), whole.bytes.end());
    for (auto changes = 1 + draw.below(3); changes > 0; --changes) {
      // Half of them in the numbers at the beginning, on which all else depends.
      const auto at = draw.below(draw.below(2) == 0 ? std::min<std::size_t>(bytes->size(), 128)
                                                    : bytes->size());
      (*bytes)[at] = draw.below(2) == 0
                         ? static_cast<std::byte>(draw.below(256))
                         : static_cast<std::byte>(std::to_integer<int>((*bytes)[at]) + 1);
    }
    if (draw.below(8) == 0) bytes->resize(draw.below(bytes->size()));
    g.attach({whole.name, *bytes, bytes});
    try {
      const auto found = stored_layout(w, g);
      ASSERT_TRUE(found);
      const pagerank_options opt{.iterations = 5};
      const auto ranks = pagerank<float>(w, g, opt, &*found);
      EXPECT_EQ(verify_pagerank(w, g, ranks, opt), std::nullopt);
      ++read;
    } catch (const input_error& refusal) {
      EXPECT_NE(std::string(refusal.what()).find("stored layout"), std::string::npos);
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(read, 5);
}

TEST(StoredLayout, OfAnotherGraphIsRefused) {
  world w;
  auto g = support::share_of<std::uint32_t>(support::path(9), 0, 1);
  auto other = support::path(9);
  other.edges.back() = {0, 8};
  const auto h = support::share_of<std::uint32_t>(other, 0, 1);
  g.attach(attachment_of(pull_layout<std::uint32_t>(w, h)));
  EXPECT_THROW(static_cast<void>(stored_layout(w, g)), input_error);
  g.attach({"another's", std::as_bytes(std::span("bytes"))});
  EXPECT_FALSE(stored_layout(w, g));
}

}  // namespace
}  // namespace cairn::algo::stored_layout_test
