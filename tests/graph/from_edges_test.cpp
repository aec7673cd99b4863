// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/graph/from_edges.hpp>

#include <support/places.hpp>

namespace cairn::graph::from_edges_test {
namespace {

using weights_of_edges = std::map<std::pair<std::uint64_t, std::uint64_t>, double>;

/// By the ids of the input; 1 without weights.
weights_of_edges own_edges(const any_graph& any) {
  weights_of_edges found;
  std::visit(
      [&](const auto& g) {
        const auto& names = g.labels();
        for (auto v = g.out().first(); v < g.out().last(); ++v) {
          const auto targets = g.out().neighbors(v);
          for (std::size_t i = 0; i < targets.size(); ++i) {
            double weight = 1;
            if (g.out().template weighted_by<std::int32_t>()) {
              weight = g.out().template edges_of<std::int32_t>(v)[i].weight;
            } else if (g.weighted()) {
              weight = g.out().template edges_of<double>(v)[i].weight;
            }
            found[{names.id_of(v), names.id_of(targets[i])}] += weight;
          }
        }
      },
      any);
  return found;
}

template <class Id, class W>
struct arrays {
  std::vector<Id> sources, targets;
  std::vector<W> weights;
};

/// Edge i of all is with rank i % ranks.
template <class Id, class W>
arrays<Id, W> share_of(world& w, weights_of_edges& all, std::uint64_t stride) {
  random64 draw(7);
  arrays<Id, W> mine;
  for (int i = 0; i < 300; ++i) {
    const auto u = draw.below(40) * stride, v = draw.below(40) * stride;
    const auto weight = static_cast<W>(draw.below(100)) / W{4};
    all[{u, v}] += static_cast<double>(weight);
    if (i % w.size() != w.rank()) continue;
    mine.sources.push_back(static_cast<Id>(u));
    mine.targets.push_back(static_cast<Id>(v));
    mine.weights.push_back(weight);
  }
  return mine;
}

class FromEdges : public ::testing::TestWithParam<support::place> {
 protected:
  template <class Id, class W>
  static void check(world& w, const from_edges_options& options, std::uint64_t stride) {
    weights_of_edges all;
    const auto mine = share_of<Id, W>(w, all, stride);
    const auto g =
        from_edges(w, std::span<const Id>(mine.sources), std::span<const Id>(mine.targets),
                   std::span<const W>(mine.weights), options);
    std::uint64_t found = 0;
    for (const auto& [ends, weight] : own_edges(g)) {
      ASSERT_TRUE(all.contains(ends));
      EXPECT_DOUBLE_EQ(all[ends], weight);
      ++found;
    }
    EXPECT_EQ(w.sum(found), all.size());
    std::visit([&](const auto& graph) { EXPECT_EQ(graph.num_edges(), 300u); }, g);
  }
};

TEST_P(FromEdges, IsTheGraphOfAllRanksShares) {
  GetParam().run([](world& w) {
    check<std::uint32_t, std::int32_t>(w, {}, 3);
    check<std::int32_t, double>(w, {.num_vertices = 40}, 1);
    check<std::uint64_t, float>(w, {.order = order_kind::degree}, std::uint64_t{1} << 40);
    check<std::int64_t, std::int64_t>(w, {.num_vertices = 200, .order = order_kind::random}, 5);
  });
}

TEST_P(FromEdges, DeclaredVerticesNeedNoEdges) {
  GetParam().run([](world& w) {
    const std::vector<std::uint32_t> ids = {4};
    const auto mine = std::span(ids).first(w.rank() == 0 ? 1 : 0);
    const auto g = from_edges(w, mine, mine, {}, {.num_vertices = 9, .directed = false});
    std::visit(
        [](const auto& graph) {
          EXPECT_EQ(graph.num_vertices(), 9u);
          EXPECT_EQ(graph.num_edges(), 1u);
          EXPECT_FALSE(graph.directed() || graph.weighted());
        },
        g);
    const auto none = from_edges(w, mine.first(0), mine.first(0));
    EXPECT_EQ(std::get<0>(none).num_vertices(), 0u);
  });
}

TEST_P(FromEdges, WithoutEdgesHasTheWeightsOfItsType) {
  GetParam().run([](world& w) {
    const std::span<const std::uint32_t> none;
    const auto check_rows = [&]<class W>(std::type_identity<W>, const weight_span& weights) {
      const auto any = from_edges(w, none, none, weights, {.num_vertices = 5});
      const auto& g = std::get<0>(any);
      EXPECT_TRUE(g.weighted());
      ASSERT_TRUE(g.out().template weighted_by<W>());
      for (auto v = g.out().first(); v < g.out().last(); ++v) {
        EXPECT_TRUE(g.out().template edges_of<W>(v).empty());
      }
    };
    check_rows(std::type_identity<double>(), std::span<const float>());
    check_rows(std::type_identity<std::int32_t>(), std::span<const std::int64_t>());
  });
}

TEST_P(FromEdges, RefusesWhatIsNoGraphOnEveryRank) {
  GetParam().run([](world& w) {
    const std::vector<std::int64_t> ids = {0, 1, 2}, negative = {0, -1, 2};
    const std::vector<double> weights = {1, 2, std::nan("")};
    const std::vector<std::int32_t> whole = {1, 2, 3};
    using span = std::span<const std::int64_t>;
    const span good(ids);
    const bool first = w.rank() == 0;
    const auto refused = [&](span from, span to, const weight_span& of, from_edges_options o = {}) {
      EXPECT_THROW(static_cast<void>(from_edges(w, from, to, of, o)), usage_error);
    };
    refused(good, first ? good.first(2) : good, {});
    refused(first ? span(negative) : good, good, {});
    const std::vector<std::int64_t> more_negative = {0, 1, -2}, wide = {0, 5'000'000'000, 2};
    refused(good, first ? span(more_negative) : good, {});
    refused(first ? span(wide) : good, first ? span(negative) : good, {});
    refused(good, good, {}, {.num_vertices = 2});
    refused(good, good, std::span<const double>(weights));
    if (w.size() == 1) return;
    if (first) {
      refused(good, good, std::span<const std::int32_t>(whole));
    } else {
      refused(good, good, {});
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Everywhere, FromEdges, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

}  // namespace
}  // namespace cairn::graph::from_edges_test
