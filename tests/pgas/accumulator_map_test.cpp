// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/pgas/accumulator_map.hpp>
#include <cairn/pgas/vertex_map.hpp>

#include <support/places.hpp>

namespace cairn::pgas::accumulator_map_test {
namespace {

struct update {
  std::uint64_t id;
  std::uint32_t by;
};

// What rank r adds in a round: much to a few elements, some to all. Each rank judges the updates of
// all, so that fewer of more ranks cost as much.
std::vector<update> updates_of(rank_t r, rank_t ranks, int round, std::uint64_t n) {
  random64 random(static_cast<std::uint64_t>(100 * round + r));
  std::vector<update> all;
  const auto max_updates = 6000 / static_cast<std::uint64_t>(1 + ranks);
  for (auto left = n == 0 ? 0 : random.below(max_updates); left > 0; --left) {
    const auto among = random.below(2) == 0 ? std::min<std::uint64_t>(n, 3) : n;
    all.push_back({random.below(among), static_cast<std::uint32_t>(1 + random.below(1000))});
  }
  return all;
}

template <class Value>
Value value_of(std::uint32_t by) {
  return static_cast<Value>(by);
}

template <class A, class Contribution = typename A::value_type>
void accumulate_and_judge(world& w, std::uint64_t n, const accumulator_options& opt) {
  using value = typename A::value_type;
  accumulator_map<A, std::uint32_t, Contribution> sums(w, partition(n, w.size()), opt);
  for (int round = 0; round < 3; ++round) {
    const auto mine = updates_of(w.rank(), w.size(), round, n);
    {
      am::epoch epoch(w);
      w.parallel_for(
          mine.size(),
          [&](worker_t k, std::size_t begin, std::size_t end) {
            sums.accumulate(k, [&](auto&& add) {
              for (auto i = begin; i < end; ++i) {
                add(static_cast<std::uint32_t>(mine[i].id), value_of<Contribution>(mine[i].by));
              }
            });
          },
          37);
      epoch.close();
    }
    std::vector<value> expected(n, A::identity());
    for (rank_t r = 0; r < w.size(); ++r) {
      for (const auto& u : updates_of(r, w.size(), round, n)) {
        expected[u.id] = A::combine(expected[u.id], value_of<value>(u.by));
      }
    }
    const partition partition(n, w.size());
    std::vector<value> found(partition.size(w.rank()));
    std::vector<int> times(found.size());
    sums.collect([&](worker_t, std::uint64_t first, std::span<const value> totals) {
      for (std::size_t i = 0; i < totals.size(); ++i) {
        found[first - partition.first(w.rank()) + i] = totals[i];
        ++times[first - partition.first(w.rank()) + i];
      }
    });
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(times[i], 1) << "of " << n << ", round " << round;
      EXPECT_EQ(found[i], expected[partition.first(w.rank()) + i])
          << "element " << i << " of " << n << ", round " << round;
    }
  }
}

class AccumulatorMap : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, AccumulatorMap, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

// Bins of few values, so that there are many; of more adds than a block holds; and none at all.
TEST_P(AccumulatorMap, CombinesWhatAllWorkersOfAllRanksAdd) {
  GetParam().run([](world& w) {
    for (const auto how : {accumulation::partials, accumulation::bins}) {
      for (const std::uint64_t n : {0, 1, 5, 700}) {
        for (const std::size_t bin_bytes : {1, 64, 1 << 20}) {
          for (const bool reduce : {true, false}) {
            accumulate_and_judge<add<std::uint64_t>>(w, n, {how, bin_bytes, reduce});
          }
        }
      }
      accumulate_and_judge<minimum<std::uint32_t>>(w, 300, {how, 128});
      accumulate_and_judge<maximum<std::int32_t>>(w, 300, {how, 128});
      for (const bool reduce : {true, false}) {
        accumulate_and_judge<add<double>, float>(w, 300, {how, 128, reduce});
      }
    }
  });
}

// The sum of 2^24, 1 and 1, each added to an element of this rank and to one of the next rank, is a
// float, but added up in float it would be 2^24.
TEST_P(AccumulatorMap, AddsUpInTheTypeOfTheTotals) {
  GetParam().run([](world& w) {
    for (const auto how : {accumulation::partials, accumulation::bins}) {
      for (const std::size_t max_remote : {0, 1}) {
        const partition elements(2 * static_cast<std::uint64_t>(w.size()), w.size());
        accumulator_map<add<double>, std::uint32_t, float> sums(
            w, elements, {.method = how, .max_remote_entries = max_remote});
        const auto first_of = [&](rank_t r) {
          return static_cast<std::uint32_t>(elements.first(r % w.size()));
        };
        {
          am::epoch epoch(w);
          sums.accumulate(main_worker, [&](auto&& add) {
            for (const auto v : {first_of(w.rank()), first_of(w.rank() + 1) + 1}) {
              for (const float x : {0x1p24F, 1.0F, 1.0F}) add(v, x);
            }
          });
          epoch.close();
        }
        std::atomic<int> seen = 0;
        sums.collect([&](worker_t, std::uint64_t, std::span<const double> totals) {
          for (const auto total : totals) EXPECT_EQ(total, 0x1p24 + 2);
          seen += static_cast<int>(totals.size());
        });
        EXPECT_EQ(seen, 2);
      }
    }
  });
}

TEST_P(AccumulatorMap, IsRightWithTinyBuffers) {
  GetParam().run([](world& w) { accumulate_and_judge<add<std::uint32_t>>(w, 50, {}); },
                 {.coalesce_bytes = 16, .coalesce_age_ns = 0, .pending_bytes = 100});
}

TEST_P(AccumulatorMap, IsRightUnderEveryRouting) {
  for (const auto scheme : {routing::grid, routing::hypercube}) {
    GetParam().run(
        [](world& w) {
          for (const auto how : {accumulation::partials, accumulation::bins}) {
            for (const bool reduce : {true, false}) {
              accumulate_and_judge<add<std::uint64_t>>(w, 700, {how, 64, reduce});
            }
          }
        },
        {.coalesce_bytes = 64, .routing = scheme});
  }
}

// The bins for remote elements are full after each chunk.
TEST_P(AccumulatorMap, IsRightIfItKeepsFewValuesForRemoteElements) {
  GetParam().run([](world& w) {
    const accumulator_options opt{
        .method = accumulation::bins, .bin_bytes = 64, .max_remote_entries = 1};
    accumulate_and_judge<add<std::uint64_t>>(w, 700, opt);
    accumulate_and_judge<minimum<std::uint32_t>>(w, 3, opt);
  });
}

// 100 adds to each of two remote elements: 200 messages, or one for each.
TEST_P(AccumulatorMap, CombinesAtTheSenderWhateverItsStorage) {
  GetParam().run([](world& w) {
    for (const auto how : {accumulation::partials, accumulation::bins}) {
      for (const bool reduce : {true, false}) {
        const partition partition(2 * static_cast<std::uint64_t>(w.size()), w.size());
        accumulator_map<add<std::uint64_t>> sums(w, partition, {.method = how, .reduce = reduce});
        const auto before = w.counters().total(obs::counter::messages_sent);
        const auto next = partition.first((w.rank() + 1) % w.size());
        {
          am::epoch epoch(w);
          sums.accumulate(main_worker, [&](auto&& add) {
            for (int i = 0; i < 100; ++i) add(next, 1), add(next + 1, 2);
          });
          epoch.close();
        }
        sums.collect([&](worker_t, std::uint64_t first, std::span<const std::uint64_t> totals) {
          for (std::size_t i = 0; i < totals.size(); ++i) {
            EXPECT_EQ(totals[i], (first + i) % 2 == 0 ? 100u : 200u);
          }
        });
        const auto sent = w.counters().total(obs::counter::messages_sent) - before;
        EXPECT_EQ(sent, w.size() == 1 ? 0u : reduce ? 2u : 200u);
        w.barrier();
      }
    }
  });
}

// Two remote elements, to each of which is added in three chunks: a message for each and chunk.
TEST_P(AccumulatorMap, SendsWhatFullBinsHold) {
  GetParam().run([](world& w) {
    const partition partition(100 * static_cast<std::uint64_t>(w.size()), w.size());
    accumulator_map<add<std::uint64_t>> sums(
        w, partition, {.method = accumulation::bins, .bin_bytes = 64, .max_remote_entries = 1});
    const auto before = w.counters().total(obs::counter::messages_sent);
    const auto next = partition.first((w.rank() + 1) % w.size());
    {
      am::epoch epoch(w);
      for (int chunk = 0; chunk < 3; ++chunk) {
        sums.accumulate(main_worker, [&](auto&& add) {
          for (int i = 0; i < 1000; ++i) add(next, 1), add(next + 99, 2);
        });
      }
      epoch.close();
    }
    sums.collect([&](worker_t, std::uint64_t first, std::span<const std::uint64_t> totals) {
      for (std::size_t i = 0; i < totals.size(); ++i) {
        const auto id = (first + i) % 100;
        EXPECT_EQ(totals[i], id == 0 ? 3000u : id == 99 ? 6000u : 0u);
      }
    });
    const auto sent = w.counters().total(obs::counter::messages_sent) - before;
    EXPECT_EQ(sent, w.size() == 1 ? 0u : 6u);
    w.barrier();
  });
}

TEST(AccumulatorMapContract, CollectsOnlyWhileNoEpochIsOpen) {
  world w;
  accumulator_map<add<int>> sums(w, partition(4, w.size()));
  am::epoch e(w);
  EXPECT_THROW(sums.collect([](worker_t, auto, auto) {}), contract_violation);
  e.close();
}

TEST(AccumulatorMapContract, RefusesThePartitionOfAnotherNumberOfRanks) {
  world w;
  EXPECT_THROW(accumulator_map<add<int>>(w, partition(4, 2)), contract_violation);
  const std::vector<std::uint64_t> sizes{3, 4};
  EXPECT_THROW(vertex_map<int>(w, partition::listed(sizes), 0), contract_violation);
}

TEST(AccumulatorChoice, TakesPartialsWhileTheyAreSmall) {
  world w;
  const auto chosen = [&](std::uint64_t n, accumulation asked) {
    return accumulator_map<add<double>>(w, partition(n, 1), {.method = asked}).method();
  };
  constexpr auto few = partials_bytes / sizeof(double);
  EXPECT_EQ(chosen(few, accumulation::automatic), accumulation::partials);
  EXPECT_EQ(chosen(few + 1, accumulation::automatic), accumulation::bins);
  EXPECT_EQ(chosen(10, accumulation::bins), accumulation::bins);
  EXPECT_EQ(chosen(few + 1, accumulation::partials), accumulation::partials);
}

}  // namespace
}  // namespace cairn::pgas::accumulator_map_test
