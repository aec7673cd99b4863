// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/pgas/vertex_map.hpp>
#include <cairn/traverse/own.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

namespace cairn::traverse::own_test {
namespace {

class Own : public ::testing::TestWithParam<support::place> {};
INSTANTIATE_TEST_SUITE_P(Everywhere, Own, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Own, EachVertexIsVisitedOnceWhateverItTakes) {
  GetParam().run([](world& w) {
    for (const std::uint64_t n : {0, 1, 100, 50'000}) {
      for (const double ns : {0.1, 5.0, 1e6}) {
        pgas::vertex_map<std::uint32_t> visits(w, pgas::partition(n, w.size()), 0);
        for_each_own(
            w, visits, [&](worker_t, std::uint64_t v) { visits.store(v, visits.load(v) + 1); }, ns);
        for (const auto times : visits.local()) ASSERT_EQ(times, 1u);
      }
    }
  });
}

TEST_P(Own, EachRowIsInOneRangeOfManyAlsoIfItHasNoEdges) {
  support::plain_graph star{"star beside vertices without edges", 20'000, true, {}};
  for (std::uint64_t leaf = 1; leaf < 5'000; ++leaf) star.edges.push_back({0, leaf});
  GetParam().run([&](world& w) {
    const auto share = support::share_of<std::uint32_t>(star, w.rank(), w.size());
    pgas::vertex_map<std::uint32_t> visits(w, share.partition(), 0);
    std::atomic<std::uint64_t> longest = 0;
    for_edge_ranges(w, share.out(), 1, [&](worker_t, std::uint64_t v, std::uint64_t last) {
      if (longest < last - v) longest = last - v;
      for (; v < last; ++v) visits.store(v, visits.load(v) + 1);
    });
    for (const auto times : visits.local()) ASSERT_EQ(times, 1u);
    EXPECT_LE(longest, share.out().num_rows() / 8 + 256);
  });
}

TEST(Chunk, ALoopThatIsNotWorthSharingIsOneChunk) {
  world w(2);
  EXPECT_GE(chunk_of(w, 100, 10), 100u);
  EXPECT_LT(chunk_of(w, 10'000, 10), 10'000u / 2);
  EXPECT_GE(chunk_of(w, 10'000, 10), 100u);  // a microsecond's work
}

TEST(Chunk, OneWorkersLoopIsCutSoThatItCanBeCancelled) {
  world w(1);
  EXPECT_LT(chunk_of(w, 100'000'000, 10), 100'000u);
  EXPECT_GE(chunk_of(w, 100, 1e9), 1u);
}

}  // namespace
}  // namespace cairn::traverse::own_test
