// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/channel.hpp>
#include <cairn/base/random.hpp>
#include <cairn/core/simulation.hpp>
#include <cairn/traverse/ordered_work.hpp>

#include <support/places.hpp>

namespace cairn::traverse::ordered_work_test {
namespace {

using entry = reached_vertex<std::uint64_t, std::uint64_t>;

/// A tree of work whose nodes are assigned to random ranks: a node at depth d sends two of depth d
/// + 1.
struct scattered_tree {
  static constexpr std::uint64_t depth = 9;

  scattered_tree(world& the_world, double width)
      : w(the_world), work(w, width), done(w.workers()), channel(w, [this](worker_t k, auto batch) {
          for (const auto& e : batch) work.add(k, e);
        }) {}

  // Returns the number of processed entries on all ranks.
  std::uint64_t run(std::uint64_t end) {
    for (auto& d : done) d.value = 0;
    work.run(
        [&](worker_t k, const auto& batch) {
          auto send = channel.from(k);
          for (const auto& e : batch.entries()) {
            ++done[k];
            for (std::uint64_t child = 1; e.distance < depth && child <= 2; ++child) {
              const entry next{mix64(2 * e.vertex + child), e.distance + 1};
              const auto to =
                  static_cast<rank_t>(next.vertex % static_cast<std::uint64_t>(w.size()));
              if (to == w.rank()) {
                work.add(k, next);
              } else {
                send(to, next);
              }
            }
          }
        },
        end);
    std::uint64_t sum = 0;
    for (const auto& d : done) sum += d.value;
    return w.sum(sum);
  }

  world& w;
  ordered_work<entry> work;
  task::per_worker<std::uint64_t> done;
  am::channel<entry> channel;
};

class OrderedWork : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, OrderedWork, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(OrderedWork, EndsOnceAllIsDoneEverywhere) {
  GetParam().run(
      [](world& w) {
        const auto ranks = static_cast<std::uint64_t>(w.size());
        for (const auto width : {0.5, 4.0, HUGE_VAL}) {
          scattered_tree tree(w, width);
          for (std::uint64_t round = 0; round < 3; ++round) {
            tree.work.add(worker_t(0), {mix64(round), 0});
            EXPECT_EQ(tree.run(tree.work.none), ranks * 1023);
          }
        }
      },
      {.coalesce_bytes = 64});
}

TEST_P(OrderedWork, EndsWithAnyFrequency) {
  for (const unsigned frequency : {1, 3, 1000}) {
    GetParam().run(
        [](world& w) {
          scattered_tree tree(w, 4);
          tree.work.add(worker_t(0), {1, 0});
          EXPECT_EQ(tree.run(tree.work.none), static_cast<std::uint64_t>(w.size()) * 1023);
        },
        {.coalesce_bytes = 64, .frequency = frequency});
  }
}

TEST_P(OrderedWork, EndsWithAnyLead) {
  for (const unsigned lead : {0u, 2u, world_options::any_lead}) {
    GetParam().run(
        [](world& w) {
          scattered_tree tree(w, 1);
          for (std::uint64_t round = 0; round < 2; ++round) {
            tree.work.add(worker_t(0), {mix64(round), 0});
            EXPECT_EQ(tree.run(tree.work.none), static_cast<std::uint64_t>(w.size()) * 1023);
          }
        },
        {.coalesce_bytes = 64, .lead = lead});
  }
}

// The largest distance by which a rank began a bucket ahead of another that still had entries.
std::uint64_t largest_lead(unsigned lead, int machines) {
  constexpr std::uint64_t buckets = 100;
  std::uint64_t largest = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<std::uint64_t> at(3, buckets);  // where each rank is, once it has begun
    run_simulated({.ranks = 3, .workers = 1, .seed = seed, .machines = machines}, {.lead = lead},
                  [&](world& w) {
                    ordered_work<entry> work(w, 1);
                    for (std::uint64_t i = 0; i <= buckets; ++i) work.add(worker_t(0), {i, i});
                    auto& mine = at[static_cast<std::size_t>(w.rank())];
                    work.run([&](worker_t, const auto& batch) {
                      mine = batch.entries().front().distance;
                      for (const auto other : at) {
                        if (other < std::min(mine, buckets)) {
                          largest = std::max(largest, mine - other);
                        }
                      }
                      w.pool().switch_point();
                    });
                  });
  }
  return largest;
}

// A rank shows a bucket before it begins it, so it may be one bucket further than `at`.
TEST(OrderedWorkOfThreeRanks, WaitsForWhoIsFurtherBehindThanTheLead) {
  EXPECT_LE(largest_lead(0, 1), 1u);
  EXPECT_LE(largest_lead(4, 1), 5u);
  EXPECT_GT(largest_lead(4, 1), 1u);
  EXPECT_GT(largest_lead(world_options::any_lead, 1), 10u);
  EXPECT_GT(largest_lead(0, 3), 10u) << "ranks of other machines are not waited for";
}

// A busy worker that polls more often also tests more often for the end.
TEST(OrderedWorkOfTwoRanks, TestsForTheEndAsOftenAsIsSaid) {
  const auto waves = [](unsigned frequency) {
    std::uint64_t all = 0;
    support::on_simulated_ranks(2, 1, 1,
                                [&](world& w) {
                                  scattered_tree tree(w, 4);
                                  for (std::uint64_t v = 0; v < 50; ++v)
                                    tree.work.add(worker_t(0), {mix64(v), 0});
                                  static_cast<void>(tree.run(tree.work.none));
                                  all = w.sum(w.counters().total(obs::counter::waves));
                                },
                                {.frequency = frequency});
    return all;
  };
  EXPECT_GT(waves(1), waves(1000));
}

// Entries in later buckets wait for the next run, also entries from other ranks.
TEST_P(OrderedWork, LeavesWhatIsBeyondItsEnd) {
  GetParam().run([](world& w) {
    const auto ranks = static_cast<std::uint64_t>(w.size());
    scattered_tree tree(w, 1);
    tree.work.add(worker_t(0), {1, 0});
    std::uint64_t at_depth = ranks;
    for (std::uint64_t d = 0; d <= tree.depth; ++d, at_depth *= 2) {
      EXPECT_EQ(w.reduce<minimum<std::uint64_t>>(tree.work.first_bucket()), d);
      EXPECT_EQ(tree.run(d + 1), at_depth);
    }
    EXPECT_EQ(tree.work.first_bucket(), tree.work.none);
  });
}

TEST_P(OrderedWork, StopsOnAllRanksWhenOneIsCancelled) {
  GetParam().run([](world& w) {
    const auto never_ending = [&] {
      ordered_work<entry> work(w, 1);
      am::channel<entry> channel(w, [&](worker_t k, auto batch) {
        for (const auto& e : batch) work.add(k, e);
      });
      work.add(worker_t(0), {0, 0});
      work.run([&](worker_t k, const auto& batch) {
        for (const auto& e : batch.entries()) {
          if (e.distance == 500 && w.rank() == 0) w.cancel();
          channel.send(k, (w.rank() + 1) % w.size(), {0, e.distance + 1});
        }
      });
    };
    EXPECT_THROW(never_ending(), cancelled);
    EXPECT_EQ(w.sum(std::uint64_t{1}), static_cast<std::uint64_t>(w.size()));
  });
}

// If a worker fails, the others do not wait for it.
TEST(OrderedWorkOfOneRank, ThrowsWhatItsWorkThrows) {
  for (const int workers : {1, 2, 3}) {
    world w(workers);
    ordered_work<entry> work(w, 1);
    for (std::uint64_t i = 0; i < 1'000; ++i) work.add(worker_t(0), {i, i});
    EXPECT_THROW(work.run([](worker_t, const auto& batch) {
      if (batch.entries().front().distance >= 500) throw std::runtime_error("enough");
    }),
                 std::runtime_error);
  }
}

// Entries may be between two workers when a run fails.
TEST(OrderedWorkOfOneRank, GoesOnAfterARunThatFailed) {
  constexpr std::uint64_t entries = 2'000;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    support::on_simulated_ranks(1, 3, seed, [seed](world& w) {
      ordered_work<entry> work(w, 8);
      for (std::uint64_t i = 0; i < entries; ++i) work.add(worker_t(0), {i, i});
      std::uint64_t processed = 0;
      const auto run_until = [&](std::uint64_t last) {
        work.run([&](worker_t, const auto& batch) {
          w.pool().switch_point();
          processed += batch.size();
          for (const auto& e : batch.entries()) {
            if (e.vertex == last) throw std::runtime_error("enough");
          }
        });
      };
      EXPECT_THROW(run_until(mix64(seed) % entries), std::runtime_error);
      work.add(worker_t(seed % 3), {entries, 0});
      run_until(entries + 1);
      EXPECT_EQ(processed, entries + 1);
    });
  }
}

// A chain whose every entry is added when the one before it is processed.
TEST_P(OrderedWork, ExtendsShortBatchesInOrderOnOneRank) {
  GetParam().run([](world& w) {
    constexpr std::uint64_t length = 1'000, width = 16, end = 30;
    ordered_work<entry> work(w, width);
    std::vector<std::uint64_t> order;
    std::size_t batches = 0, largest = 0;
    const auto follow = [&](worker_t k, auto& batch) {
      do {
        for (const auto& e : batch.entries()) {
          order.push_back(e.distance);
          if (e.distance + 1 < length) work.add(k, {e.vertex, e.distance + 1});
        }
      } while (batch.extend([] {}));
      ++batches;
      largest = std::max(largest, batch.size());
    };
    if (w.rank() == 0) work.add(worker_t(0), {0, 0});
    work.run(follow, end);
    EXPECT_EQ(order.size(), w.rank() == 0 ? end * width : 0);
    work.run(follow);
    EXPECT_EQ(order.size(), w.rank() == 0 ? length : 0);
    EXPECT_TRUE(std::ranges::is_sorted(order));
    if (w.rank() != 0) return;
    if (w.size() > 1) {
      EXPECT_EQ(batches, length);
    } else {
      EXPECT_EQ(largest, w.workers() > 1 ? 8u : 32u);
    }
  });
}

// The worker takes bucket 2; bucket 4 waits, and the run ends before 9.
TEST(OrderedWorkOfOneRank, SaysWhichBucketsAreNext) {
  world w;
  ordered_work<entry> work(w, 1);
  work.add(worker_t(0), {1, 2});
  work.add(worker_t(0), {2, 4});
  std::vector<std::uint64_t> next;
  work.run(
      [&](worker_t k, const auto& batch) {
        EXPECT_EQ(batch.entries().size(), 1u);
        for (std::uint64_t b = 2; b < 12; ++b) {
          if (work.is_next(k, b)) next.push_back(b);
        }
      },
      9);
  EXPECT_EQ(next, (std::vector<std::uint64_t>{2, 3, 4, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(OrderedWorkOfOneRank, IsGivenAwayOnRequest) {
  support::on_simulated_ranks(1, 3, 1, [](world& w) {
    ordered_work<entry> work(w, 8);
    for (std::uint64_t i = 0; i < 5'000; ++i) work.add(worker_t(0), {i, i});
    task::per_worker<std::uint64_t> done(w.workers());
    work.run([&](worker_t k, const auto& batch) {
      done[k] += batch.size();
      w.pool().switch_point();
    });
    std::uint64_t sum = 0;
    for (const auto& d : done) {
      EXPECT_GT(d.value, 100u);
      sum += d.value;
    }
    EXPECT_EQ(sum, 5'000u);
  });
}

TEST(OrderedWorkOfOneRank, IsNotGivenAwayBeforeItIsWorthIt) {
  for (const std::uint64_t min_entries : {1'000, 4'000, 6'000}) {
    support::on_simulated_ranks(1, 3, 1, [min_entries](world& w) {
      ordered_work<entry> work(w, 8);
      work.share_after(min_entries);
      for (std::uint64_t i = 0; i < 5'000; ++i) work.add(worker_t(0), {i, i});
      task::per_worker<std::uint64_t> done(w.workers());
      std::uint64_t alone = 0;
      work.run([&](worker_t k, const auto& batch) {
        if (k != worker_t(0) && alone == 0) alone = done[worker_t(0)];
        done[k] += batch.size();
        w.pool().switch_point();
      });
      EXPECT_EQ(done[worker_t(0)] + done[worker_t(1)] + done[worker_t(2)], 5'000u);
      if (min_entries > 5'000) {
        EXPECT_EQ(done[worker_t(0)], 5'000u);
      } else {
        EXPECT_GE(alone, min_entries);
        EXPECT_LT(done[worker_t(0)], 5'000u);
      }
    });
  }
}

// Who waits must not wait for a worker that has nothing to do before the new end.
TEST(OrderedWorkOfOneRank, EndsEarlierThanWaitingWorkersAre) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    run_simulated({.ranks = 1, .workers = 3, .seed = seed}, {.lead = 0}, [](world& w) {
      ordered_work<entry> work(w, 1);
      for (worker_t k{0}; k < 3; ++k) work.add(k, {0, std::array{10u, 60u, 100u}[k]});
      std::atomic<int> done{0};
      const auto count = [&](worker_t, const auto& batch) {
        for (int i = 0; i < 50; ++i) w.pool().switch_point();
        done += static_cast<int>(batch.size());
        work.end_at(50);
      };
      work.run(count);
      EXPECT_GE(done, 1);
      work.run(count);
      work.run(count);
      EXPECT_EQ(done, 3);
    });
  }
}

TEST(OrderedWorkOfOneRank, LeavesLaterBucketsToTheNextRunWhenItIsToldSo) {
  for (const int workers : {1, 2}) {
    support::on_simulated_ranks(1, workers, 3, [](world& w) {
      ordered_work<entry> work(w, 1);
      for (std::uint64_t i = 0; i < 2'000; ++i) work.add(worker_t(0), {i, i % 100});
      task::per_worker<std::uint64_t> early(w.workers()), late(w.workers());
      work.run([&](worker_t k, const auto& batch) {
        for (const auto& e : batch.entries()) {
          if (e.distance == 10) work.end_at(20);
          ++(e.distance < 20 ? early : late)[k];
          w.pool().switch_point();
        }
      });
      const auto left = work.size(worker_t(0)) + (w.workers() > 1 ? work.size(worker_t(1)) : 0);
      std::uint64_t first = 0, beyond = 0;
      for (const auto& k : early) first += k.value;
      for (const auto& k : late) beyond += k.value;
      EXPECT_EQ(first, 400u);
      EXPECT_EQ(left + beyond, 1'600u);
      if (w.workers() == 1) {
        EXPECT_EQ(beyond, 0u);
      }
      work.run([&](worker_t k, const auto& batch) { late[k] += batch.size(); });
      for (const auto& k : late) first += k.value;
      EXPECT_EQ(first, 2'000u);
    });
  }
}

}  // namespace
}  // namespace cairn::traverse::ordered_work_test
