// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/bfs.hpp>
#include <cairn/algo/ref/bfs.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>

#include <support/activity_options.hpp>
#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>
#include <support/weighted_graph.hpp>

namespace cairn::algo::bfs_test {
namespace {

using activity::mechanism;
using support::plain_graph;

// Runs one search and has it judged twice: by the serial judge, which sees everything and
// shares no code, and by the verifier.
template <class Id>
void search_and_judge(world& w, const plain_graph& g, std::uint64_t root, const bfs_options& opt,
                      const std::string& setting) {
  const auto share = support::share_of<Id>(g, w.rank(), w.size());
  const auto r = static_cast<Id>(root);
  const auto result = bfs(w, share, r, opt);
  const auto arcs = g.arcs();
  EXPECT_EQ(ref::bfs_violation(g.n, arcs, root, support::whole(w, result.parent)), "")
      << g.name << setting;
  EXPECT_EQ(verify_bfs<Id>(w, share, r, result.parent), std::nullopt) << g.name << setting;
  EXPECT_EQ(result.depth.has_value(), opt.depths);
  const auto depths = ref::bfs_depths(g.n, arcs, root);
  if (result.depth) {
    EXPECT_EQ(support::whole(w, *result.depth), depths) << g.name << setting;
    EXPECT_EQ(verify_bfs(w, share, r, result.parent, &*result.depth), std::nullopt) << g.name;
    EXPECT_EQ(verify_bfs_depths(w, share, r, *result.depth), std::nullopt) << g.name;
  }
  if (!by_levels(opt.algorithm)) {
    const auto rows = g.neighbors();
    std::uint64_t needed = 0;
    for (std::uint64_t v = 0; v < g.n; ++v)
      needed += depths[v] < ref::unreached ? rows[v].size() : 0;
    EXPECT_GE(result.relaxations, needed) << g.name << setting;
    EXPECT_EQ(result.levels, 0u) << g.name << setting;
    return;
  }
  std::uint64_t deepest = 0;
  for (const auto d : depths) deepest = d == ref::unreached ? deepest : std::max(deepest, d);
  EXPECT_EQ(result.levels, deepest + 1) << g.name << setting;
  if (opt.direction != traverse::direction::automatic) {
    const bool bottom_up = opt.direction == traverse::direction::pull;
    EXPECT_EQ(result.bottom_up_levels, bottom_up ? result.levels : 0u) << g.name << setting;
  }
}

bfs_options random_options(random64& random, int workers) {
  bfs_options opt{.activity = support::random_activity(random, workers)};
  opt.algorithm = static_cast<bfs_method>(random.below(4));
  opt.direction = static_cast<traverse::direction>(random.below(3));
  opt.depths = random.below(2) == 0;
  return opt;
}

std::string describe(const bfs_options& opt) {
  return ", " + support::describe(opt.activity) + ", direction " +
         std::to_string(static_cast<int>(opt.direction)) + ", " +
         std::string(enum_name(opt.algorithm));
}

// The same draws on every rank, and thus the same collective calls.
void search_at_random(world& w, const plain_graph& g, random64& random) {
  const auto opt = random_options(random, w.workers());
  const auto root = random.below(g.n);
  if (random.below(2) == 0) {
    search_and_judge<std::uint32_t>(w, g, root, opt, describe(opt));
  } else {
    search_and_judge<std::uint64_t>(w, g, root, opt, describe(opt));
  }
}

class Bfs : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Bfs, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Bfs, IsRightOnCornerGraphs) {
  GetParam().run([](world& w) {
    random64 random(1);
    for (const auto& g : support::corner_graphs()) search_at_random(w, g, random);
  });
}

TEST_P(Bfs, IsRightOnRandomGraphs) {
  const int graphs = GetParam().simulated() ? 30 : 8;
  GetParam().run([&](world& w) {
    random64 random(2);
    for (int i = 0; i < graphs; ++i) {
      const auto g = support::random_graph(random());
      search_at_random(w, g, random);
    }
  });
}

// Buffers of two messages, a filter of two cells: everything that can be in several parts is.
TEST_P(Bfs, IsRightWithTinyBuffersAndATinyFilter) {
  GetParam().run(
      [](world& w) {
        random64 random(3);
        for (int i = 0; i < 6; ++i) {
          const auto g = support::random_graph(random());
          search_at_random(w, g, random);
        }
      },
      {.coalesce_bytes = 16, .coalesce_age_ns = 0, .pending_bytes = 100, .filter_entries = 2});
}

// Large enough that lists spill, windows slide, and the direction changes twice.
TEST_P(Bfs, ChangesDirectionWhereItPays) {
  random64 random(4);
  plain_graph g{"random graph with a tail", 3000, false, {}};
  for (int i = 0; i < 24'000; ++i) g.edges.push_back({random.below(2900), random.below(2900)});
  for (std::uint64_t v = 2899; v < 2999; ++v) g.edges.push_back({v, v + 1});
  GetParam().run([&](world& w) {
    const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
    const auto result = bfs(w, share, 0u, {.depths = true});
    EXPECT_GT(result.bottom_up_levels, 0u);
    EXPECT_LT(result.bottom_up_levels, result.levels / 2);
    EXPECT_EQ(support::whole(w, *result.depth), ref::bfs_depths(g.n, g.arcs(), 0));
    EXPECT_EQ(verify_bfs(w, share, 0u, result.parent, &*result.depth), std::nullopt);
  });
}

TEST_P(Bfs, TracesItsLevelsOnRequest) {
  random64 random(5);
  plain_graph g{"random graph with a tail", 420, false, {}};
  for (int i = 0; i < 4000; ++i) g.edges.push_back({random.below(400), random.below(400)});
  for (std::uint64_t v = 399; v < 419; ++v) g.edges.push_back({v, v + 1});
  const auto depths = ref::bfs_depths(g.n, g.arcs(), 0);
  GetParam().run([&](world& w) {
    const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
    EXPECT_TRUE(bfs(w, share, 0u).trace.empty());
    const auto result = bfs(w, share, 0u, {.trace = true});
    EXPECT_EQ(result.trace.size(), result.levels);
    EXPECT_GT(result.levels, 20u);
    EXPECT_GT(result.bottom_up_levels, 0u);
    std::uint64_t bottom_up = 0;
    for (std::size_t i = 0; i < result.trace.size(); ++i) {
      const auto there = std::count(depths.begin(), depths.end(), i);
      EXPECT_EQ(result.trace[i].frontier, static_cast<std::uint64_t>(there)) << "level " << i;
      EXPECT_GE(result.trace[i].seconds, 0);
      bottom_up += result.trace[i].pull;
    }
    EXPECT_EQ(bottom_up, result.bottom_up_levels);
  });
}

// Each mechanism with each direction, emulated transactions aborting for every cause.
TEST(BfsOptions, EveryMechanismFindsTheSameDepths) {
  for (const int workers : {1, 2}) {
    for (const auto setting : {mechanism::automatic, mechanism::plain, mechanism::atomics,
                               mechanism::htm, mechanism::locks, mechanism::one_lock}) {
      if (setting == mechanism::plain && workers > 1) continue;
      support::on_simulated_ranks(3, workers, 7, [&](world& w) {
        for (const auto direction : {traverse::direction::automatic, traverse::direction::push,
                                     traverse::direction::pull}) {
          bfs_options opt{.direction = direction, .depths = true};
          opt.activity.mechanism = setting;
          opt.activity.emulate = activity::emulation_options{};
          for (const auto& g : {support::random_graph(5, 200), support::star(150)}) {
            search_and_judge<std::uint32_t>(w, g, 0, opt, describe(opt));
          }
        }
      });
    }
  }
}

TEST(BfsOptions, ResultSaysWhatItRanOn) {
  const auto g = support::path(4);
  const auto run = [&](int workers, const bfs_options& opt) {
    world w(workers);
    const auto share = support::share_of<std::uint32_t>(g, 0, 1);
    const auto r = bfs(w, share, 0u, opt);
    return std::pair(r.ran.mechanism, r.ran.grain);
  };
  const activity::emulation_options emulated{};
  EXPECT_EQ(run(1, {}), std::pair(mechanism::plain, std::size_t{1}));
  EXPECT_EQ(run(2, {.activity = {.mechanism = mechanism::atomics}}),
            std::pair(mechanism::atomics, std::size_t{1}));
  EXPECT_EQ(run(2, {.activity = {.mechanism = mechanism::locks}}),
            std::pair(mechanism::locks, std::size_t{1}));
  EXPECT_EQ(run(2, {.activity = {.grain = 7, .emulate = emulated}}),
            std::pair(mechanism::htm, std::size_t{7}));
  EXPECT_EQ(run(1, {.activity = {.mechanism = mechanism::htm, .emulate = emulated}}),
            std::pair(mechanism::htm, activity::start_values{}.htm_grain));
}

// By levels a search of a path has as many levels as vertices, without levels one epoch.
TEST(BfsOptions, SearchesWithoutLevels) {
  const auto g = support::path(400);
  for (const auto method : {bfs_method::distributed_control, bfs_method::chaotic}) {
    support::on_ranks(2, 2, [&](world& w) {
      search_and_judge<std::uint64_t>(w, g, 7, {.algorithm = method, .depths = true}, "");
      search_and_judge<std::uint32_t>(w, support::grid(30, 40), 7, {.algorithm = method}, "");
      random64 random(1);
      const auto weighted = support::share_of<std::uint32_t>(
          support::weigh(g, support::weights::whole, 1, random), w.rank(), w.size());
      EXPECT_THROW(static_cast<void>(bfs(w, weighted, 0u, {.algorithm = method})),
                   contract_violation);
    });
  }
}

TEST(BfsOptions, RefuseWhatCannotBeRight) {
  const auto g = support::one_way_path(4);
  const auto without_in = support::share_of<std::uint32_t>(g, 0, 1, support::in_edges::no);
  world one, two(2);
  EXPECT_THROW(static_cast<void>(bfs(one, without_in, 4u)), contract_violation);
  EXPECT_THROW(
      static_cast<void>(bfs(one, without_in, 0u, {.direction = traverse::direction::pull})),
      contract_violation);
  EXPECT_THROW(
      static_cast<void>(bfs(two, without_in, 0u, {.activity = {.mechanism = mechanism::plain}})),
      usage_error);
  EXPECT_EQ(bfs(one, without_in, 0u).bottom_up_levels, 0u);
}

// Every vertex of a complete graph is visited by every other: at most the first visit that a
// worker sends to each remote vertex need travel.
TEST(BfsFilter, DropsWhatAWorkerHasSentBefore) {
  constexpr std::uint64_t n = 64, ranks = 4;
  for (const bool filter : {true, false}) {
    std::uint64_t filtered = 0, bytes = 0;
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      const auto share = support::share_of<std::uint32_t>(support::complete(n), w.rank(), w.size());
      const auto before = w.counters().total(obs::counter::bytes_sent);
      const auto r =
          bfs(w, share, 0u,
              {.activity = {.sent_filter = filter}, .direction = traverse::direction::push});
      filtered += w.counters().total(obs::counter::messages_filtered);
      bytes += w.counters().total(obs::counter::bytes_sent) - before;
      EXPECT_EQ(verify_bfs(w, share, 0u, r.parent), std::nullopt);
    });
    // Without it each vertex visits the 48 of other ranks; with it each rank visits each once.
    const auto spared = n * (n - n / ranks) - ranks * (n - n / ranks);
    EXPECT_EQ(filtered, filter ? spared : 0);
    EXPECT_EQ(bytes > 8 * n * (n - n / ranks), !filter);
  }
}

// Searches change between one worker and all, and the mechanism with them.
TEST(BfsOfOneRank, IsRightSharedOrOnOneWorker) {
  const auto search_again_and_again = [](world& w) {
    random64 random(3);
    const auto g = support::grid(40, 40);  // of shorter searches the times are not compared
    const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
    int plain = 0, others = 0;
    for (int i = 0; i < 40; ++i) {
      const auto root = static_cast<std::uint32_t>(random.below(g.n));
      const auto result = bfs(w, share, root, {});
      EXPECT_EQ(ref::bfs_violation(g.n, g.arcs(), root, support::whole(w, result.parent)), "");
      ++(result.ran.mechanism == mechanism::plain ? plain : others);
    }
    EXPECT_GT(plain, 0);
    EXPECT_GT(others, 0);
    EXPECT_EQ(w.workers(), 2);
  };
  support::on_ranks(1, 2, search_again_and_again, {.small_work_alone = true});
}

TEST(BfsRouting, EverySchemeFindsRightTrees) {
  for (const auto scheme : {routing::grid, routing::hypercube, routing::machine}) {
    for (std::uint64_t seed = 1; seed <= 15; ++seed) {
      const auto ranks = static_cast<rank_t>(2 + seed % 7);
      support::on_simulated_ranks(
          ranks, 1 + static_cast<int>(seed % 2), seed,
          [seed](world& w) {
            random64 random(seed);
            for (int i = 0; i < 4; ++i) {
              search_at_random(w, support::random_graph(random()), random);
            }
          },
          {.coalesce_bytes = 64, .routing = scheme, .machines = machine_layout::dealt(ranks, 2)});
    }
  }
}

TEST(BfsSimulated, ManySeedsGiveRightResults) {
  support::on_many_clusters({.num_seeds = 150}, [](world& w, std::uint64_t seed, random64& random) {
    search_at_random(w, support::random_graph(seed), random);
  });
}

}  // namespace
}  // namespace cairn::algo::bfs_test
