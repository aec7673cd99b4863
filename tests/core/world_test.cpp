// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/aggregator.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/one_worker.hpp>
#include <cairn/core/world.hpp>

#include <support/places.hpp>

namespace cairn::world_test {
namespace {

class World : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, World, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

std::uint64_t as_count(rank_t r) { return static_cast<std::uint64_t>(r); }

TEST_P(World, KnowsItsPlace) {
  std::atomic<std::uint64_t> seen = 0;
  GetParam().run([&](world& w) {
    EXPECT_EQ(w.size(), GetParam().ranks);
    EXPECT_EQ(w.workers(), GetParam().workers);
    seen |= std::uint64_t{1} << w.rank();
  });
  EXPECT_EQ(seen, (std::uint64_t{1} << GetParam().ranks) - 1);
}

TEST_P(World, FoldsOneValueOfEachRank) {
  GetParam().run([](world& w) {
    const auto n = as_count(w.size()), r = as_count(w.rank());
    EXPECT_EQ(w.sum(r + 1), n * (n + 1) / 2);
    EXPECT_EQ(w.max(100 - r), 100u);
    EXPECT_EQ(w.reduce<minimum<std::int32_t>>(5 - w.rank()), 6 - w.size());
    EXPECT_EQ(w.any(r + 1 == n), true);
    EXPECT_EQ(w.any(false), false);
    EXPECT_EQ(w.reduce<logical_or>(r == 0), true);
  });
}

TEST_P(World, FoldsCollectionsOfAllRanks) {
  GetParam().run([](world& w) {
    const auto n = as_count(w.size()), r = as_count(w.rank());
    std::set<std::uint64_t> ranks;
    for (std::uint64_t other = 0; other < n; ++other) ranks.insert(other);
    EXPECT_EQ(w.reduce<set_union<std::uint64_t>>({r, n - 1}), ranks);
    EXPECT_EQ(w.reduce<bag_union<int>>({1, 2}).size(), 2 * n);
    const std::map<std::string, std::uint64_t> words{{"rank " + std::to_string(r), 1}, {"all", 2}};
    const auto counts = w.reduce<merge_histograms<std::string>>(words);
    EXPECT_EQ(counts.size(), n + 1);
    EXPECT_EQ(counts.at("all"), 2 * n);
    EXPECT_EQ(counts.at("rank " + std::to_string(n - 1)), 1u);
    // Of different lengths, on most ranks none, and more than a packet holds.
    for (const std::size_t size : {0, 1, 30'000}) {
      std::vector<std::uint64_t> mine;
      if (r + 1 == n) mine.assign(size, 5);
      EXPECT_EQ(w.reduce<add_vectors<std::uint64_t>>(mine), std::vector<std::uint64_t>(size, 5));
    }
    const std::vector<bool> bits(r + 1, true);
    EXPECT_EQ(w.reduce<each_element<logical_or>>(bits), std::vector<bool>(n, true));
  });
}

TEST_P(World, GathersValuesOfAnySize) {
  GetParam().run([](world& w) {
    const auto names = w.all_gather(std::string(as_count(w.rank()) * 3, 'x'));
    const auto flags = w.all_gather(w.rank() == 0);
    ASSERT_EQ(names.size(), as_count(w.size()));
    ASSERT_EQ(flags.size(), as_count(w.size()));
    for (std::uint64_t r = 0; r < as_count(w.size()); ++r) {
      EXPECT_EQ(names[r], std::string(r * 3, 'x'));
      EXPECT_EQ(flags[r], r == 0);
    }
  });
}

// Recursive doubling's order: the ranks beyond the largest power of two first, then by halves.
double sum_in_fixed_order(std::vector<double> x) {
  const auto half = std::bit_floor(x.size());
  for (auto i = half; i < x.size(); ++i) x[i - half] += x[i];
  for (std::size_t step = 1; step < half; step *= 2) {
    for (std::size_t i = 0; i < half; i += 2 * step) x[i] += x[i + step];
  }
  return x[0];
}

// A floating sum in another order would differ in its last bits on some rank.
TEST_P(World, FloatingSumsAreTheSameBitsOnEveryRank) {
  GetParam().run([](world& w) {
    auto random = random64(3).stream(as_count(w.rank()));
    for (int i = 0; i < 20; ++i) {
      const double mine = std::exp2(60 * random.uniform() - 30);
      const double sum = w.sum(mine);
      EXPECT_EQ(sum, sum_in_fixed_order(w.all_gather(mine)));
      for (const double other : w.all_gather(sum)) EXPECT_EQ(other, sum);
    }
  });
}

TEST_P(World, GathersValuesInRankOrderWhateverTheirNumber) {
  GetParam().run([](world& w) {
    EXPECT_EQ(w.all_gather(w.rank() * 10).size(), static_cast<std::size_t>(w.size()));
    for (rank_t r = 0; r < w.size(); ++r) {
      EXPECT_EQ(w.all_gather(w.rank() * 10)[static_cast<std::size_t>(r)], r * 10);
    }
    // Rank r has r * scale values; some ranks have none, some more than a packet holds.
    for (const std::size_t scale : {0, 1, 5000}) {
      const std::vector<std::uint32_t> mine(as_count(w.rank()) * scale,
                                            static_cast<std::uint32_t>(w.rank()));
      const auto all = w.all_gather_values<std::uint32_t>(mine);
      std::vector<std::uint32_t> expected;
      for (rank_t r = 0; r < w.size(); ++r) {
        expected.insert(expected.end(), as_count(r) * scale, static_cast<std::uint32_t>(r));
      }
      EXPECT_EQ(all, expected);
    }
  });
}

// Values of 8 bytes and 8 per element, on both sides of what fits on a board.
TEST_P(World, ReducesValuesOfAnyLength) {
  GetParam().run([](world& w) {
    using sums = add_vectors<std::uint64_t>;
    const auto ranks = as_count(w.size());
    for (const std::size_t n : {0, 1, 28, 29, 30, 31, 1000, 1}) {
      EXPECT_EQ(w.reduce<sums>(std::vector<std::uint64_t>(n, 3)),
                std::vector<std::uint64_t>(n, 3 * ranks));
      const bool longest = w.rank() == w.size() - 1;
      std::vector<std::uint64_t> expected(n, 1);
      if (n > 0) expected[0] = ranks;
      EXPECT_EQ(
          w.reduce<sums>(std::vector<std::uint64_t>(longest ? n : std::min<std::size_t>(n, 1), 1)),
          expected);
    }
  });
}

TEST(WorldOnOneMachine, ReducesShortValuesWithoutPackets) {
  support::place{support::place::network::rings, 3, 1}.run([](world& w) {
    using sums = add_vectors<std::uint64_t>;
    const auto packets = [&] { return w.counters().total(obs::counter::protocol_buffers); };
    const auto before = packets();
    EXPECT_EQ(w.reduce<sums>(std::vector<std::uint64_t>(29, 1)).size(), 29u);
    w.barrier();
    EXPECT_EQ(packets(), before);
    EXPECT_EQ(w.reduce<sums>(std::vector<std::uint64_t>(30, 1)).size(), 30u);
    EXPECT_GT(packets(), before);
  });
}

TEST_P(World, SumsEachOfSeveralValues) {
  GetParam().run([](world& w) {
    const auto ranks = as_count(w.size()), own = as_count(w.rank());
    std::vector<std::uint64_t> values{own, 7, ~std::uint64_t{0}};
    w.sum_each(values);
    EXPECT_EQ(values, (std::vector<std::uint64_t>{ranks * (ranks - 1) / 2, 7 * ranks, 0 - ranks}));
    w.sum_each({});
  });
}

TEST_P(World, AgreesOnTheSentenceOfTheLowestRankThatFails) {
  GetParam().run([](world& w) {
    const auto n = w.size();
    const auto said = [&](const std::function<void()>& f) -> std::string {
      try {
        w.agree(f);
      } catch (const input_error& e) {
        return std::string("input: ") + e.what();
      } catch (const usage_error& e) {
        return std::string("usage: ") + e.what();
      } catch (const system_failure& e) {
        return std::string("system: ") + e.what();
      }
      return "nothing";
    };
    EXPECT_EQ(said([] {}), "nothing");
    EXPECT_EQ(said([&] { throw input_error("rank " + std::to_string(w.rank())); }),
              "input: rank 0");
    EXPECT_EQ(said([&] {
                if (w.rank() == n - 1) throw usage_error("only the last");
              }),
              "usage: only the last");
    EXPECT_EQ(said([&] {
                if (w.rank() == n - 1) throw input_error("the last");
                if (w.rank() == (n - 1) / 2) throw system_failure("the middle");
              }),
              n == 1 ? "input: the last" : "system: the middle");
    EXPECT_EQ(said([&] {
                if (w.rank() == 0) throw input_error("");
              }),
              "input: ");
    EXPECT_EQ(w.sum(std::uint64_t{1}), as_count(n));  // the world is as good as before
  });
}

TEST_P(World, ParallelForCoversEachElementOnce) {
  GetParam().run([](world& w) {
    for (const std::size_t n : {0, 1, 2, 63, 1000}) {
      for (const std::size_t chunk : {0, 1, 7, 5000}) {
        std::vector<std::atomic<int>> times(n);
        w.parallel_for(
            n,
            [&](worker_t k, std::size_t begin, std::size_t end) {
              EXPECT_TRUE(0 <= k && k < w.workers());
              EXPECT_LT(begin, end);
              for (auto i = begin; i < end; ++i) ++times[i];
            },
            chunk);
        for (const auto& t : times) EXPECT_EQ(t, 1);
      }
    }
  });
}

TEST_P(World, ParallelForThrowsWhatAChunkThrew) {
  GetParam().run([](world& w) {
    const auto loop = [&] {
      w.parallel_for(
          100,
          [](worker_t, std::size_t begin, std::size_t) {
            if (begin == 42) throw std::runtime_error("chunk 42");
          },
          1);
    };
    EXPECT_THROW(loop(), std::runtime_error);
    w.barrier();
  });
}

TEST_P(World, WaitsUntilSomethingHoldsAndWorksMeanwhile) {
  GetParam().run([](world& w) {
    int asked = 0;
    w.wait_until([&] { return ++asked == 10; });
    EXPECT_EQ(asked, 10);
  });
}

// Who poisons may be any worker; all ranks hear of it from whatever they block in.
TEST_P(World, PoisonReachesEveryBlockingCallOfEveryRank) {
  const rank_t culprit = GetParam().ranks / 2;
  std::atomic<int> heard = 0;
  GetParam().run([&](world& w) {
    const auto expect_failure = [&](const std::function<void()>& blocks) {
      try {
        blocks();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const peer_failure& e) {
        EXPECT_EQ(e.rank(), culprit);
        EXPECT_NE(std::string(e.what()).find("disk full"), std::string::npos) << e.what();
        ++heard;
      }
    };
    if (w.rank() == culprit) {
      expect_failure([&] {
        w.parallel_for(
            10,
            [&](worker_t, std::size_t begin, std::size_t) {
              if (begin == 5) w.poison("disk full");
            },
            1);
      });
    }
    expect_failure([&] {
      for (;;) w.barrier();
    });
    expect_failure([&] { w.wait_until([] { return false; }); });
    expect_failure([&] { static_cast<void>(w.all_gather(1)); });
    EXPECT_TRUE(w.poisoned());
    w.poison("too late to matter");
    expect_failure([&] { w.throw_if_poisoned(); });
  });
  EXPECT_EQ(heard, 4 * GetParam().ranks + 1);
}

TEST(WorldAlone, NeedsNoPeers) {
  world w(2);
  EXPECT_EQ(w.rank(), 0);
  EXPECT_EQ(w.size(), 1);
  EXPECT_EQ(w.sum(std::uint64_t{5}), 5u);
  w.barrier();
  EXPECT_EQ(w.counters().total(obs::counter::buffers_sent), 0u);
}

TEST(WorldAlone, IsMadeAndUsedByAWorkerOfAnotherPool) {
  const auto outer = task::make_threads({.workers = 3});
  outer->run([](worker_t) {
    world w(2);
    std::atomic<std::uint64_t> covered = 0;
    w.parallel_for(1000, [&](worker_t worker, std::size_t begin, std::size_t end) {
      EXPECT_LT(worker, w.workers());
      covered += end - begin;
    });
    EXPECT_EQ(covered, 1000u);
    w.pool().run([&](worker_t worker) { EXPECT_EQ(w.pool().current_worker(), worker); });
  });
}

TEST(WorldAlone, OneWorkerRunsLoopsAndJobsAlone) {
  world w(3);
  {
    const one_worker alone(w);
    EXPECT_EQ(w.workers(), 1);
    std::uint64_t covered = 0;  // no other worker touches it
    w.parallel_for(
        1000,
        [&](worker_t k, std::size_t begin, std::size_t end) {
          EXPECT_EQ(k, main_worker);
          covered += end - begin;
        },
        7);
    EXPECT_EQ(covered, 1000u);
    int jobs = 0;
    w.run([&](worker_t k) { jobs += k == main_worker ? 1 : 100; });
    EXPECT_EQ(jobs, 1);
    { const one_worker inner(w); }
    EXPECT_EQ(w.workers(), 1);
  }
  EXPECT_EQ(w.workers(), 3);
  std::atomic<int> jobs = 0;
  w.run([&](worker_t) { ++jobs; });
  EXPECT_EQ(jobs, 3);
}

TEST(WorldAlone, OneWorkerOfSeveralRanksIsRefused) {
  support::on_ranks(2, 2, [](world& w) { EXPECT_THROW(one_worker alone(w), contract_violation); });
}

// Its settings are read while it is made: they must be its own by then.
TEST(WorldAlone, TracesNothingWhateverItsMemoryHeld) {
  alignas(world) std::array<std::byte, sizeof(world)> memory;
  memory.fill(std::byte{0xff});
  auto* const w = new (memory.data()) world(2);
  EXPECT_FALSE(w->options().trace);
  EXPECT_FALSE(w->trace().on());
  w->~world();
}

TEST(WorldAlone, ManyLiveInOneProcess) {
  std::vector<std::unique_ptr<world>> worlds;
  for (int i = 0; i < 100; ++i) worlds.push_back(std::make_unique<world>());
  worlds[7]->poison("one of them");
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    EXPECT_EQ(worlds[i]->poisoned(), i == 7);
    if (i != 7) {
      EXPECT_EQ(worlds[i]->sum(std::uint64_t{i}), i);
    }
  }
}

}  // namespace
}  // namespace cairn::world_test
