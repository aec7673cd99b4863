// SPDX-License-Identifier: Apache-2.0
#include "algo/worker_distances.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::algo::worker_distances_test {
namespace {

constexpr std::uint64_t n = 5;  // vertices that get distances, in blocks far apart
constexpr std::uint64_t apart = 3 * worker_distances<std::uint32_t>::block - 1;
constexpr std::uint32_t far = ~std::uint32_t{0};

struct entry {
  std::uint64_t v;
  std::uint32_t distance;
};

/// A schedule of two runs of workers that lower distances and take entries in any order, with
/// tables that may not know workers that began later.
struct schedule {
  explicit schedule(int workers)
      : w(workers), distance(w, {n * apart, w.size()}, far), own(w, distance) {}

  // skip(tables, entry) says whether to skip an entry. Returns how often the least distance of
  // each vertex was expanded.
  template <class Skip>
  std::vector<int> play(std::uint64_t seed, Skip skip) {
    random64 random(seed);
    std::vector<entry> queue;
    std::vector<entry> expanded;
    std::vector<std::uint32_t> expected(n, far);
    std::vector<worker_distances<std::uint32_t>::tables> old;
    for (int step = 0; step < 60 || !queue.empty(); ++step) {
      if (step % 8 == 0) {
        old.clear();
        for (int k = 0; k < w.workers(); ++k) old.push_back(own.of(worker_t(k)));
      }
      if (step == 30) {  // between two runs, where others lower distances in the map
        own.gather();
        const entry pulled{random.below(n) * apart, 3};
        if (distance.load(pulled.v) > pulled.distance) {
          distance.store(pulled.v, pulled.distance);
          expected[pulled.v / apart] = pulled.distance;
          queue.push_back(pulled);
        }
      }
      const auto& t = old[random.below(old.size())];
      if (step < 60 && random.below(2) == 0) {
        const entry e{random.below(n) * apart, static_cast<std::uint32_t>(random.below(12))};
        auto& least = expected[e.v / apart];
        least = std::min(least, e.distance);
        if (t.improves(e.v, e.distance) && t.lower(e.v, e.distance)) queue.push_back(e);
      } else if (!queue.empty()) {
        std::swap(queue[random.below(queue.size())], queue.back());
        const auto e = queue.back();
        queue.pop_back();
        if (!skip(t, e)) expanded.push_back(e);
      }
    }
    own.gather();
    std::vector<int> times(n, 0);
    for (std::uint64_t v = 0; v < n; ++v) {
      EXPECT_EQ(distance.load(v * apart), expected[v]);
      for (const auto& e : expanded) {
        times[v] += e.v == v * apart && e.distance == expected[v] ? 1 : 0;
      }
      if (expected[v] == far) times[v] = 1;
    }
    return times;
  }

  world w;
  pgas::vertex_map<std::uint32_t> distance;
  worker_distances<std::uint32_t> own;
};

TEST(WorkerDistances, TheLeastOfEachVertexIsExpanded) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    schedule s(1 + static_cast<int>(seed % 4));
    const auto times =
        s.play(seed, [](const auto& t, const entry& e) { return !t.is_least(e.v, e.distance); });
    EXPECT_EQ(std::ranges::count(times, 0), 0) << seed;
  }
}

// A worker that is given an entry has not lowered the distance itself.
TEST(WorkerDistances, ASkipOfWhatTheOwnTableDoesNotHoldLosesDistances) {
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    schedule s(2);
    const auto times = s.play(seed, [](const auto& t, const entry& e) {
      return !t.is_least(e.v, e.distance) || t.improves(e.v, e.distance);
    });
    lost += std::ranges::count(times, 0) > 0 ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
}

}  // namespace
}  // namespace cairn::algo::worker_distances_test
