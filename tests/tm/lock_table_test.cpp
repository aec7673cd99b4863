// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/tm/cell.hpp>
#include <cairn/tm/lock_table.hpp>

namespace cairn::tm::lock_table_test {
namespace {

using line = cairn::padded<std::int64_t>;

const auto no_wait = [](unsigned) { FAIL() << "waited for a free lock"; };
const auto yield = [](unsigned) { std::this_thread::yield(); };

TEST(LockTable, RoundsStripesUpAndRefusesNone) {
  EXPECT_EQ(tm::lock_table(1).stripes(), 1u);
  EXPECT_EQ(tm::lock_table(100).stripes(), 128u);
  EXPECT_THROW(tm::lock_table(0), cairn::contract_violation);
}

TEST(LockTable, ALineHasOneStripeAndLinesThatFollowHaveOthers) {
  const tm::lock_table table(1024);
  std::vector<line> lines(2 * 1024);
  const auto index = [](const line& l) {
    return reinterpret_cast<std::uintptr_t>(&l) / cairn::cache_line;
  };
  const auto first = 1024 - index(lines[0]) % 1024;
  std::set<std::uint32_t> stripes;
  for (auto i = first; i < first + 1024; ++i) {
    const auto* const bytes = reinterpret_cast<const char*>(&lines[i]);
    EXPECT_EQ(table.stripe_of(bytes), table.stripe_of(bytes + cairn::cache_line - 1));
    ASSERT_LT(table.stripe_of(bytes), table.stripes());
    stripes.insert(table.stripe_of(bytes));
  }
  EXPECT_EQ(stripes.size(), 1024u);
}

TEST(LockTable, AGuardHoldsItsCellsStripe) {
  tm::lock_table table;
  std::int64_t cell = 0;
  {
    const tm::lock_table::guard held(table, &cell, no_wait);
    EXPECT_TRUE(table.taken(&cell));
    EXPECT_FALSE(held.waited());
  }
  EXPECT_FALSE(table.taken(&cell));
}

TEST(LockSet, TakesEachStripeOnceAndGivesAllBack) {
  tm::lock_table table;
  std::vector<line> lines(20);
  tm::lock_set set(table);
  for (int round = 0; round < 2; ++round) {
    for (int twice = 0; twice < 2; ++twice) {
      for (const auto& l : lines) set.add(&l);
    }
    EXPECT_EQ(set.lock(no_wait), 0u);
    EXPECT_LE(set.size(), lines.size());
    for (const auto& l : lines) EXPECT_TRUE(table.taken(&l));
    set.unlock();
    for (const auto& l : lines) EXPECT_FALSE(table.taken(&l));
  }
}

TEST(LockSet, GivesBackWhatItTookWhenWaitingThrows) {
  tm::lock_table table;
  std::vector<line> lines(20);
  {
    const tm::lock_table::guard other(table, &lines[7], no_wait);
    tm::lock_set set(table);
    for (const auto& l : lines) set.add(&l);
    EXPECT_THROW(set.lock([](unsigned) { throw std::runtime_error("poisoned"); }),
                 std::runtime_error);
  }
  for (const auto& l : lines) EXPECT_FALSE(table.taken(&l));
}

// What keeps lock_set from deadlock: while it waits for a stripe it holds all of its lower
// ones and none above, so in every ring of waiters somebody would wait for a lower stripe than
// one it holds. `lock(table, cells, relax)` takes the stripes of the cells.
template <class Lock>
bool waits_in_order(std::uint64_t seed, Lock&& lock) {
  tm::lock_table table(256);
  std::vector<line> lines(64);
  cairn::random64 random(seed);
  std::vector<const void*> cells;
  for (int i = 0; i < 6; ++i) cells.push_back(&lines[random.below(lines.size())]);
  const void* const blocked = cells[random.below(cells.size())];
  std::optional<tm::lock_table::guard> holder;
  holder.emplace(table, blocked, yield);
  bool in_order = true;
  lock(table, cells, [&](unsigned) {
    for (const auto* c : cells) {
      if (table.stripe_of(c) == table.stripe_of(blocked)) continue;
      in_order = in_order && table.taken(c) == (table.stripe_of(c) < table.stripe_of(blocked));
    }
    holder.reset();
  });
  return in_order;
}

TEST(LockSet, HoldsAllLowerStripesAndNoHigherOneWhileItWaits) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    ASSERT_TRUE(waits_in_order(seed,
                               [](auto& table, const auto& cells, auto relax) {
                                 tm::lock_set set(table);
                                 for (const auto* c : cells) set.add(c);
                                 EXPECT_EQ(set.lock(relax), 1u);
                               }))
        << "seed " << seed;
  }
}

TEST(LockSet, ATwinThatDoesNotSortIsCaught) {
  int caught = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    caught += waits_in_order(
                  seed,
                  [](auto& table, const auto& cells, auto relax) {
                    std::set<std::uint32_t> seen;
                    std::vector<std::unique_ptr<tm::lock_table::guard>> guards;
                    for (const auto* c : cells) {
                      if (!seen.insert(table.stripe_of(c)).second) continue;
                      guards.push_back(std::make_unique<tm::lock_table::guard>(table, c, relax));
                    }
                  })
                  ? 0
                  : 1;
  }
  EXPECT_GT(caught, 500);
}

TEST(LockSet, TransfersBetweenAccountsKeepTheSumOnThreads) {
  tm::lock_table table(16);
  std::vector<line> accounts(32);
  for (auto& a : accounts) a.value = 100;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto random = cairn::random64(7).stream(t);
      tm::lock_set set(table);
      for (int i = 0; i < 3'000; ++i) {
        auto& from = accounts[random.below(accounts.size())].value;
        auto& to = accounts[random.below(accounts.size())].value;
        set.add(&from);
        set.add(&to);
        set.lock(yield);
        const auto amount = static_cast<std::int64_t>(random.below(10));
        tm::cell_ref<std::int64_t, tm::section_access>(from).add(-amount);
        tm::cell_ref<std::int64_t, tm::section_access>(to).add(amount);
        set.unlock();
      }
    });
  }
  for (auto& t : threads) t.join();
  std::int64_t sum = 0;
  for (const auto& a : accounts) sum += a.value;
  EXPECT_EQ(sum, 3200);
}

TEST(LockTable, GuardsKeepSingleCellUpdatesApartOnThreads) {
  tm::lock_table table(4);
  std::vector<std::uint32_t> cells(100, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        for (auto& c : cells) {
          const tm::lock_table::guard held(table, &c, yield);
          tm::cell_ref<std::uint32_t, tm::section_access>(c).add(1);
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(cells, std::vector<std::uint32_t>(100, 200));
}

}  // namespace
}  // namespace cairn::tm::lock_table_test
