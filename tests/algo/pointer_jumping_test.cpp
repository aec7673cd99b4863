// SPDX-License-Identifier: Apache-2.0
#include "algo/pointer_jumping.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

#include "algo/fetch.hpp"
#include "algo/neighbor_values.hpp"
#include "algo/wanted_ids.hpp"

namespace cairn::algo::pointer_jumping_test {
namespace {

TEST(WantedIds, AreDistinctAndAscendingWhoeverAddsThem) {
  for (const int workers : {1, 3}) {
    world w(workers);
    wanted_ids<std::uint64_t> wanted(w);
    for (const std::size_t ids : {0, 1, 5'000, 3}) {
      w.parallel_for(4 * ids, [&](worker_t k, std::size_t i, std::size_t last) {
        for (; i < last; ++i) wanted.add(k, 3 * (i % ids));
      });
      std::vector<std::uint64_t> expected(ids);
      for (std::size_t i = 0; i < ids; ++i) expected[i] = 3 * i;
      EXPECT_EQ(wanted.take(), expected);
    }
  }
}

// Ids that always replace each other in the cache of recent ones.
TEST(WantedIds, DoNotGrowByRepeatedOnes) {
  world w(1);
  wanted_ids<std::uint32_t> wanted(w);
  for (std::uint32_t i = 0; i < 3'000'000; ++i) wanted.add(main_worker, (i % 3'000) << 20);
  EXPECT_LE(wanted.capacity(main_worker), std::size_t{1} << 20);
  EXPECT_EQ(wanted.take().size(), 3'000u);
}

class PointerJumping : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, PointerJumping, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// Ids close together, far apart and both: groups of the index with many ids, one or none.
TEST_P(PointerJumping, FetchesElementsOfOtherRanks) {
  GetParam().run([](world& w) {
    constexpr std::uint32_t n = 3'000;
    pgas::vertex_map<std::uint32_t> map(w, pgas::partition(n, w.size()), 0);
    for (std::size_t i = 0; i < map.local().size(); ++i)
      map.store(map.first() + i, static_cast<std::uint32_t>(7 * (map.first() + i)));
    fetched<std::uint32_t> copies(w, map);
    wanted_ids<std::uint32_t> wanted(w);
    random64 random(3);
    for (const std::uint32_t dense : {0u, 1u, 40u, n}) {
      std::vector<std::uint32_t> ids;
      for (std::uint32_t v = n - dense; v < n; ++v) ids.push_back(v);
      for (auto far = random.below(5); far > 0; --far)
        ids.push_back(static_cast<std::uint32_t>(random.below(n)));
      std::erase_if(ids, [&](auto v) { return map.owns(v); });
      for (const auto v : ids) wanted.add(main_worker, v);
      copies.choose(wanted.take());
      copies.refresh();
      for (const auto v : ids) EXPECT_EQ(copies(v), 7 * v);
    }
  });
}

// Few neighbors, which are requested, and many, for which all values are gathered.
TEST_P(PointerJumping, KnowsTheValuesOfNeighbors) {
  GetParam().run([](world& w) {
    for (const std::uint64_t distance : {0, 1, 100}) {
      for (const std::uint64_t edges : {1, 20, 3'000}) {
        support::plain_graph g{"pairs", 3'000, true, {}};
        for (std::uint64_t v = 0; v < edges; ++v) g.edges.push_back({v, (v + distance) % g.n});
        const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
        pgas::vertex_map<std::uint32_t> map(w, share.partition(), 0);
        neighbor_values<std::uint32_t> values(w, share, map);
        values.choose();
        for (const std::uint32_t factor : {5, 7}) {
          for (auto v = map.first(); map.owns(v); ++v)
            map.store(v, static_cast<std::uint32_t>(factor * v));
          values.refresh();
          for (auto v = map.first(); map.owns(v); ++v) {
            for (const auto u : share.out().neighbors(v)) {
              ASSERT_EQ(map.owns(u) ? factor * u : values(u), factor * u);
            }
          }
        }
      }
    }
  });
}

// Trees of any depth over all ranks.
TEST_P(PointerJumping, PointsVerticesAtTheirRoots) {
  GetParam().run([](world& w) {
    random64 random(4);
    for (const std::uint32_t reach : {1u, 3u, 1'000u}) {
      constexpr std::uint32_t n = 500;
      std::vector<std::uint32_t> parents(n), roots(n);
      for (std::uint32_t v = 0; v < n; ++v) {
        const bool root = random.below(10) == 0;
        const auto up = static_cast<std::uint32_t>(1 + random.below(reach));
        parents[v] = root || up > v ? v : v - up;
        roots[v] = parents[v] == v ? v : roots[parents[v]];
      }
      pgas::vertex_map<std::uint32_t> map(w, pgas::partition(n, w.size()), 0);
      std::vector<std::uint32_t> some;  // those that do not point at their roots: not all need be
      const auto fill = [&] {
        some.clear();
        for (std::size_t i = 0; i < map.local().size(); ++i) {
          const auto v = static_cast<std::uint32_t>(map.first() + i);
          map.store(v, parents[v]);
          if (parents[v] != roots[v]) some.push_back(v);
        }
      };
      const auto expect_roots = [&] {
        for (std::size_t i = 0; i < map.local().size(); ++i)
          EXPECT_EQ(map.load(map.first() + i), roots[map.first() + i]);
      };
      pointer_jumping<std::uint32_t> paths(w, map);
      fill();
      paths.flatten([](std::uint32_t) {});
      expect_roots();
      fill();
      paths.flatten(some, [](std::uint32_t) {});
      expect_roots();
      w.barrier();
    }
  });
}

// A list of the former roots, then one jump of all: what a round of the spanning forest does.
TEST_P(PointerJumping, FlattensAListAndLetsTheOthersJump) {
  GetParam().run([](world& w) {
    constexpr std::uint32_t n = 600, roots = 60;  // a path of roots; the others point at a root
    pgas::vertex_map<std::uint32_t> map(w, pgas::partition(n, w.size()), 0);
    std::vector<std::uint32_t> former;
    for (std::size_t i = 0; i < map.local().size(); ++i) {
      const auto v = static_cast<std::uint32_t>(map.first() + i);
      map.store(v, v < roots ? std::max(v, 1u) - 1 : v % roots);
      if (v < roots) former.push_back(v);
    }
    pointer_jumping<std::uint32_t> paths(w, map);
    std::vector<int> moves(n);
    paths.flatten(former, [&](std::uint32_t v) { ++moves[v]; });
    paths.jump();
    for (const auto root : map.local()) EXPECT_EQ(root, 0u);
    for (std::uint32_t v = 0; v < n; ++v) EXPECT_LE(moves[v], v < roots ? 6 : 0);
  });
}

}  // namespace
}  // namespace cairn::algo::pointer_jumping_test
