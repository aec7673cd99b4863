// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <graph/graph_reference.hpp>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/graph/builder.hpp>

#include <support/on_ranks.hpp>

namespace cairn::graph::builder_test {
namespace {

using cairn::support::on_ranks;
using reference::edge_list;

struct whole_graph {
  edge_list out, in;
  std::uint64_t num_edges = 0;
  bool directed = false, has_in = false;
};

/// Builds on `ranks` ranks and puts the ranks' rows together.
template <class Id>
whole_graph build_on(rank_t ranks, int workers, std::uint64_t n, const edge_list& edges,
                     io::weight_kind weights, bool directed, const build_options& options) {
  std::vector<whole_graph> parts(static_cast<std::size_t>(ranks));
  on_ranks(ranks, workers, [&](world& w) {
    auto raw = reference::raw_share<Id>(edges, weights, directed, 50, w.rank(), w.size());
    const auto g = build<Id>(w, std::move(raw), labels(n), options);
    auto& part = parts[static_cast<std::size_t>(w.rank())];
    EXPECT_EQ(g.num_vertices(), n);
    EXPECT_EQ(g.out().first(), g.partition().first(w.rank()));
    EXPECT_EQ(g.out().last(), g.partition().last(w.rank()));
    part.out = reference::arcs_of(g.out());
    part.num_edges = g.num_edges();
    part.directed = g.directed();
    part.has_in = g.has_in();
    if (g.has_in()) part.in = reference::arcs_of(g.in());
  });
  whole_graph whole = parts.front();
  for (std::size_t r = 1; r < parts.size(); ++r) {
    EXPECT_EQ(parts[r].num_edges, whole.num_edges);
    whole.out.insert(whole.out.end(), parts[r].out.begin(), parts[r].out.end());
    whole.in.insert(whole.in.end(), parts[r].in.begin(), parts[r].in.end());
  }
  return whole;
}

/// Edges of an undirected graph, from its arcs: a self-loop has one, every other edge two.
std::uint64_t undirected_edges(const edge_list& arcs) {
  std::uint64_t loops = 0;
  for (const auto& a : arcs) loops += a.source == a.target;
  return (arcs.size() - loops) / 2 + loops;
}

struct build_case {
  rank_t ranks;
  int workers;
};

class Builder : public testing::TestWithParam<build_case> {};

TEST_P(Builder, MatchesAMapForEveryCombinationOfOptions) {
  const auto [ranks, workers] = GetParam();
  constexpr std::uint64_t n = 61;
  const auto edges = reference::random_edges(n, 600, 11);
  auto plain = edges;
  for (auto& e : plain) e.weight = 0;
  for (unsigned bits = 0; bits < 64; ++bits) {
    const build_options options{.symmetrize = (bits & 1) != 0,
                                .drop_self_loops = (bits & 2) != 0,
                                .drop_duplicates = (bits & 4) != 0,
                                .keep_weights = (bits & 8) != 0,
                                .inverse = (bits & 16) != 0};
    const bool directed = (bits & 32) != 0;
    const bool undirected = !directed || options.symmetrize;
    const auto g = build_on<std::uint32_t>(ranks, workers, n, edges, io::weight_kind::integer,
                                           directed, options);
    const auto& given = options.keep_weights ? edges : plain;
    const auto out = reference::expected_arcs(given, undirected, false, options);
    ASSERT_EQ(g.out, out) << bits;
    ASSERT_EQ(g.directed, !undirected) << bits;
    ASSERT_EQ(g.num_edges, undirected ? undirected_edges(out) : out.size()) << bits;
    ASSERT_EQ(g.has_in, undirected || options.inverse) << bits;
    if (g.has_in) {
      ASSERT_EQ(g.in, undirected ? out : reference::expected_arcs(given, false, true, options));
    }
  }
}

TEST_P(Builder, MatchesAMapForWideIdsAndRealWeights) {
  const auto [ranks, workers] = GetParam();
  const auto edges = reference::random_edges(200, 3000, 12);
  const build_options options{.drop_duplicates = true, .inverse = true};
  const auto g =
      build_on<std::uint64_t>(ranks, workers, 200, edges, io::weight_kind::real, true, options);
  EXPECT_EQ(g.out, reference::expected_arcs(edges, false, false, options));
  EXPECT_EQ(g.in, reference::expected_arcs(edges, false, true, options));
}

TEST_P(Builder, GivesAGraphItsInverseLater) {
  const auto [ranks, workers] = GetParam();
  const auto edges = reference::random_edges(97, 2000, 13);
  edge_list in;
  std::vector<edge_list> parts(static_cast<std::size_t>(ranks));
  on_ranks(ranks, workers, [&](world& w) {
    auto raw = reference::raw_share<std::uint32_t>(edges, io::weight_kind::real, true, 40, w.rank(),
                                                   w.size());
    auto g = build<std::uint32_t>(w, std::move(raw), labels(97), {});
    EXPECT_THROW(static_cast<void>(g.in()), contract_violation);
    build_inverse(w, g);
    parts[static_cast<std::size_t>(w.rank())] = reference::arcs_of(g.in());
  });
  for (const auto& part : parts) in.insert(in.end(), part.begin(), part.end());
  EXPECT_EQ(in, reference::expected_arcs(edges, false, true, {}));
}

TEST_P(Builder, BuildsGraphsWithoutEdgesOrVertices) {
  const auto [ranks, workers] = GetParam();
  for (const std::uint64_t n : {0u, 1u, 5u}) {
    const auto g = build_on<std::uint32_t>(ranks, workers, n, {}, io::weight_kind::none, false, {});
    EXPECT_TRUE(g.out.empty());
    EXPECT_EQ(g.num_edges, 0u);
  }
}

TEST(BuilderOverNetworks, BuildsTheSameWhateverTheNetworkDelaysAndReorders) {
  const auto edges = reference::random_edges(40, 900, 14);
  const build_options options{.symmetrize = true, .drop_duplicates = true};
  const auto expected = reference::expected_arcs(edges, true, false, options);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    std::vector<edge_list> parts(3);
    const auto body = [&](world& w) {
      auto raw = reference::raw_share<std::uint32_t>(edges, io::weight_kind::integer, true, 30,
                                                     w.rank(), w.size());
      const auto g = build<std::uint32_t>(w, std::move(raw), labels(40), options);
      parts[static_cast<std::size_t>(w.rank())] = reference::arcs_of(g.out());
    };
    const auto whole = [&] {
      edge_list all;
      for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
      return all;
    };
    cairn::support::on_simulated_ranks(3, 2, seed, body);
    EXPECT_EQ(whole(), expected) << "simulated, seed " << seed;
    cairn::support::on_chaotic_ranks(3, 2, seed, body);
    EXPECT_EQ(whole(), expected) << "chaotic, seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(OnRanks, Builder,
                         testing::Values(build_case{1, 1}, build_case{1, 2}, build_case{1, 4},
                                         build_case{2, 1}, build_case{3, 2}, build_case{8, 1}),
                         [](const auto& c) {
                           return std::to_string(c.param.ranks) + "x" +
                                  std::to_string(c.param.workers);
                         });

TEST(AnyBuilder, TakesNarrowIdsWhileTheyFit) {
  world w(1);
  io::raw_edges raw;
  EXPECT_EQ(build_any(w, raw, labels(3)).index(), 0u);
  EXPECT_TRUE(fits_32_bits(0xffff'fffeu));
  EXPECT_FALSE(fits_32_bits(0xffff'ffffu));
}

TEST(AnyBuilder, RefusesAGraphThatDoesNotFitTheMemory) {
  world w(1);
  EXPECT_THROW(static_cast<void>(build_any(w, {}, labels(std::uint64_t{1} << 47))), usage_error);
}

}  // namespace
}  // namespace cairn::graph::builder_test
