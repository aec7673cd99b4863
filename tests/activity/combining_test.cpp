// SPDX-License-Identifier: Apache-2.0
// Messages of equal key become one before they travel, at the sender and at hops.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/places.hpp>

namespace cairn::activity::combining_test {
namespace {

using obs::counter;

constexpr std::uint64_t elements = 60, spawned = 3'000;
constexpr auto far = std::numeric_limits<std::uint64_t>::max();

struct step {
  std::uint64_t id, distance;
};
struct shorter {
  using value_type = step;
  static step identity() { return {0, far}; }
  static step combine(const step& a, const step& b) { return a.distance <= b.distance ? a : b; }
};
struct together {
  using value_type = step;
  static step identity() { return {0, 0}; }
  static step combine(const step& a, const step& b) { return {a.id, a.distance + b.distance}; }
};

struct on_map {
  using message = step;
  pgas::vertex_map<std::uint64_t>& map;
  auto cell(const step& m) const { return map.at(m.id); }
};
/// As shortest paths lower distances.
struct reach : on_map {
  using combined = shorter;
  std::uint64_t key(const step& m) const { return m.id; }
  bool wanted(std::uint64_t x, const step& m) const { return m.distance < x; }
  bool attempt(auto x, const step& m) const { return x.lower(m.distance) > m.distance; }
};
/// Nothing is lost: the sums are exact.
struct gather : on_map {
  using combined = together;
  std::uint64_t key(const step& m) const { return m.id; }
  void attempt(auto x, const step& m) const { x.add(m.distance); }
};
static_assert(combining<reach> && filtered<reach> && combining<gather> && !filtered<gather>);

step nth(rank_t r, std::uint64_t i) {
  auto random = random64(static_cast<std::uint64_t>(r) + 1).stream(i);
  return {random.below(elements), 1 + random.below(1000)};
}

/// Spawns each rank's steps; returns whether this rank's elements are what all steps make of them.
template <class Op>
bool run(world& w, executor<Op>& steps, pgas::vertex_map<std::uint64_t>& map,
         std::uint64_t initial) {
  am::epoch epoch(w);
  w.parallel_for(
      spawned,
      [&](worker_t k, std::size_t begin, std::size_t end) {
        steps.spawn(k, [&](auto& spawn) {
          for (auto i = begin; i < end; ++i) spawn(nth(w.rank(), i));
        });
      },
      64);
  epoch.close();
  std::vector<std::uint64_t> expected(elements, initial);
  for (rank_t r = 0; r < w.size(); ++r) {
    for (std::uint64_t i = 0; i < spawned; ++i) {
      const auto m = nth(r, i);
      auto& x = expected[m.id];
      x = initial == 0 ? x + m.distance : std::min(x, m.distance);
    }
  }
  bool right = true;
  for (std::uint64_t id = 0; id < elements; ++id) {
    if (map.owns(id)) right = right && map.load(id) == expected[id];
  }
  return right;
}

class Combining : public ::testing::TestWithParam<support::place> {
 protected:
  static void under_every_scheme(const std::function<void(world&)>& body) {
    for (const auto scheme : {routing::direct, routing::grid, routing::hypercube}) {
      for (const std::size_t entries : {0, 16, 1024}) {
        SCOPED_TRACE(static_cast<int>(scheme));
        GetParam().run(body, {.coalesce_bytes = 128, .filter_entries = entries, .routing = scheme});
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Everywhere, Combining, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Combining, KeepsTheLeastOfEachElement) {
  under_every_scheme([](world& w) {
    pgas::vertex_map<std::uint64_t> map(w, {elements, w.size()}, far);
    executor steps(w, reach{{map}});
    EXPECT_TRUE(run(w, steps, map, far));
  });
}

TEST_P(Combining, LosesAndDoublesNothing) {
  under_every_scheme([](world& w) {
    pgas::vertex_map<std::uint64_t> map(w, {elements, w.size()}, 0);
    executor steps(w, gather{{map}});
    EXPECT_TRUE(run(w, steps, map, 0));
    const auto& c = w.counters();
    const auto merged = w.sum(c.total(counter::messages_merged));
    const auto sent = w.sum(c.total(counter::messages_sent));
    const auto handled = w.sum(c.total(counter::messages_handled));
    EXPECT_EQ(sent, handled) << "of the epoch that has ended";
    const auto all = spawned * static_cast<std::uint64_t>(w.size());
    EXPECT_EQ(w.options().filter_entries == 0 || w.size() == 1, merged == 0);
    EXPECT_LE(sent + merged, 2 * all);
  });
}

// Each rank sends many messages to few elements: one of each waits.
TEST(Combining, SendsOneMessageOfEachKeyWhereAllFit) {
  support::on_simulated_ranks(4, 1, 7, [](world& w) {
    pgas::vertex_map<std::uint64_t> map(w, {elements, w.size()}, 0);
    executor steps(w, gather{{map}});
    am::epoch epoch(w);
    steps.spawn(main_worker, [&](auto& spawn) {
      for (std::uint64_t i = 0; i < 10 * elements; ++i) spawn({i % elements, 1});
    });
    epoch.close();
    const auto& c = w.counters();
    const auto remote = elements - map.local().size();
    EXPECT_LE(c.total(counter::messages_sent), remote + remote / 4) << "but for shared entries";
    EXPECT_GE(c.total(counter::messages_merged), 8 * remote);
    for (const auto x : map.local()) EXPECT_EQ(x, 40u);
  });
}

// Rank 3's messages from 0, 1 and 2 meet at hops of the hypercube.
TEST(Combining, MergesAtHopsToo) {
  std::atomic<std::uint64_t> at_hops = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    support::on_simulated_ranks(8, 1, seed,
                                [&](world& w) {
                                  pgas::vertex_map<std::uint64_t> map(w, {elements, w.size()}, 0);
                                  executor steps(w, gather{{map}});
                                  am::epoch epoch(w);
                                  // Each key once: a rank merges only what others have sent through
                                  // it.
                                  steps.spawn(main_worker, [&](auto& spawn) {
                                    for (std::uint64_t id = 0; id < elements; ++id) spawn({id, 1});
                                  });
                                  epoch.close();
                                  at_hops += w.counters().total(counter::messages_merged);
                                  for (const auto x : map.local()) EXPECT_EQ(x, 8u);
                                },
                                {.coalesce_bytes = 64, .routing = routing::hypercube});
  }
  EXPECT_GT(at_hops, 0u);
}

TEST(Combining, CancelEmptiesTheTables) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    support::on_simulated_ranks(4, 1, seed,
                                [&](world& w) {
                                  {
                                    pgas::vertex_map<std::uint64_t> map(w, {elements, w.size()}, 0);
                                    executor steps(w, gather{{map}});
                                    const auto stopped = [&] {
                                      am::epoch epoch(w);
                                      w.parallel_for(
                                          20,
                                          [&](worker_t k, std::size_t begin, std::size_t) {
                                            steps.spawn(k, [&](auto& spawn) { spawn({begin, 1}); });
                                            if (begin == seed % 20 && w.rank() == 0) w.cancel();
                                          },
                                          1);
                                      epoch.close();
                                      w.barrier();
                                    };
                                    EXPECT_THROW(stopped(), cancelled);
                                  }
                                  pgas::vertex_map<std::uint64_t> map(w, {elements, w.size()}, 0);
                                  executor steps(w, gather{{map}});
                                  EXPECT_TRUE(run(w, steps, map, 0));
                                },
                                {.coalesce_bytes = 64, .routing = routing::grid});
  }
}

}  // namespace
}  // namespace cairn::activity::combining_test
