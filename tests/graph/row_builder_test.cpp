// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <graph/graph_reference.hpp>
#include <graph/row_builder.hpp>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/task/pool.hpp>

namespace cairn::graph::row_builder_test {
namespace {

using detail::build_rows;
using detail::direction;
using detail::row_request;
using detail::unweighted;
using reference::edge_list;

// Many buckets, so that lines run over, gaps are closed across buckets, and workers race.
TEST(RowBuilder, MatchesAMapForEveryDirectionAndOptionOnAnyNumberOfWorkers) {
  constexpr std::uint64_t n = 700;
  const auto edges = reference::random_edges(n, 6000, 3);
  for (const int workers : {1, 2, 4}) {
    const auto pool = task::make_threads({.workers = workers});
    for (const auto arcs : {direction::out, direction::in, direction::both}) {
      for (const unsigned drop : {0u, 1u, 2u, 3u}) {
        const build_options options{.drop_self_loops = (drop & 1) != 0,
                                    .drop_duplicates = (drop & 2) != 0};
        auto raw =
            reference::raw_share<std::uint32_t>(edges, io::weight_kind::integer, true, 999, 0, 1);
        const auto rows =
            build_rows<std::uint32_t, std::int32_t>(*pool, raw.blocks,
                                                    {.num_vertices = n,
                                                     .first = 0,
                                                     .last = n,
                                                     .arcs = arcs,
                                                     .drop_self_loops = options.drop_self_loops,
                                                     .drop_duplicates = options.drop_duplicates,
                                                     .bucket_arcs = 50});
        EXPECT_EQ(reference::arcs_of(rows),
                  reference::expected_arcs(edges, arcs == direction::both, arcs == direction::in,
                                           options))
            << "workers " << workers << " drop " << drop;
      }
    }
  }
}

TEST(RowBuilder, BuildsOnlyTheRowsAskedFor) {
  const auto pool = task::make_threads({.workers = 2});
  edge_list edges;
  for (const auto& e : reference::random_edges(1000, 5000, 4)) {
    if (e.source >= 300 && e.source < 420) edges.push_back({e.source, e.target, 0});
  }
  auto raw = reference::raw_share<std::uint64_t>(edges, io::weight_kind::none, true, 64, 0, 1);
  const auto rows = build_rows<std::uint64_t, unweighted>(
      *pool, raw.blocks, {.num_vertices = 1000, .first = 300, .last = 420, .bucket_arcs = 10});
  EXPECT_EQ(rows.first(), 300u);
  EXPECT_EQ(rows.num_rows(), 120u);
  EXPECT_EQ(reference::arcs_of(rows), reference::expected_arcs(edges, false, false, {}));
}

TEST(RowBuilder, FreesTheBlocksThatItHasReadUnlessToldToKeepThem) {
  const auto pool = task::make_threads({.workers = 2});
  const auto edges = reference::random_edges(50, 400'000, 5);
  auto raw = reference::raw_share<std::uint32_t>(edges, io::weight_kind::none, true, 150'000, 0, 1);
  ASSERT_EQ(raw.blocks.size(), 3u);
  row_request request{.num_vertices = 50, .first = 0, .last = 50, .keep_blocks = true};
  const auto first = build_rows<std::uint32_t, unweighted>(*pool, raw.blocks, request);
  EXPECT_EQ(raw.num_edges(), edges.size());
  request.keep_blocks = false;
  const auto second = build_rows<std::uint32_t, unweighted>(*pool, raw.blocks, request);
  EXPECT_EQ(raw.num_edges(), 0u);
  EXPECT_EQ(reference::arcs_of(first), reference::arcs_of(second));
}

TEST(RowBuilder, EmptyRangesAndEmptyInputsGiveEmptyRows) {
  const auto pool = task::make_threads({.workers = 2});
  std::vector<io::edge_block> none;
  const auto no_rows = build_rows<std::uint32_t, unweighted>(*pool, none, {.num_vertices = 9});
  EXPECT_EQ(no_rows.num_rows(), 0u);
  EXPECT_EQ(no_rows.num_edges(), 0u);
  const auto no_edges = build_rows<std::uint32_t, unweighted>(
      *pool, none, {.num_vertices = 9, .first = 2, .last = 9});
  EXPECT_EQ(no_edges.num_rows(), 7u);
  EXPECT_EQ(no_edges.num_edges(), 0u);
  EXPECT_TRUE(no_edges.neighbors(8).empty());
}

}  // namespace
}  // namespace cairn::graph::row_builder_test
