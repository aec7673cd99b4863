// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/tm/abort_injection.hpp>
#include <cairn/tm/section.hpp>
#include <cairn/tm/versioned_section.hpp>

namespace cairn::tm::versioned_section_test {
namespace {

using obs::counter;

struct yield {
  void operator()(unsigned) const noexcept { std::this_thread::yield(); }
};
using section = tm::versioned_section<tm::version_table<>, yield>;

static_assert(tm::hardware<section> && tm::hardware<tm::injected<section>>);

template <class Body>
tm::attempt_outcome attempt(section& s, Body&& body) {
  return tm::attempt_section(s, tm::unsubscribed{}, body);
}

TEST(VersionState, SaysWhoOwnsAndWhatVersion) {
  const auto free = tm::version_state::free_at(12345);
  EXPECT_FALSE(free.owned());
  EXPECT_EQ(free.version(), 12345u);
  for (const std::uint32_t owner : {0u, 1u, tm::version_state::max_owners - 1}) {
    const auto owned = tm::version_state::owned_by(owner, 77);
    EXPECT_TRUE(owned.owned());
    EXPECT_TRUE(owned.owned_by(owner));
    EXPECT_FALSE(owned.owned_by(owner ^ 1));
    EXPECT_FALSE(free.owned_by(owner));
    EXPECT_EQ(owned.record(), 77u);
  }
}

TEST(VersionTable, NeighborsShareAWordAndOthersDoNot) {
  tm::version_table<> table(64);
  alignas(32) std::uint64_t cells[64];
  EXPECT_EQ(&table.word_of(&cells[0]), &table.word_of(&cells[3]));
  EXPECT_NE(&table.word_of(&cells[0]), &table.word_of(&cells[4]));
  EXPECT_EQ(table.num_owned(), 0u);
}

TEST(VersionedSection, ReadsItsOwnWritesAndShowsThemAtTheCommit) {
  tm::version_table<> table;
  section s(table, 0, {});
  std::uint64_t x = 1;
  std::uint8_t small[4] = {1, 2, 3, 4};
  double d = 0.5;
  const auto outcome = attempt(s, [&](auto access) {
    access.store(x, access.load(x) + 1);
    access.store(x, access.load(x) + 1);
    for (auto& b : small) access.store(b, static_cast<std::uint8_t>(access.load(b) + 10));
    access.store(d, access.load(d) * 3);
    EXPECT_EQ(access.load(x), 3u);
    EXPECT_EQ(access.load(small[3]), 14);
    EXPECT_EQ(access.load(d), 1.5);
    EXPECT_EQ(x, 1u);
    EXPECT_EQ(small[3], 4);
    EXPECT_GT(table.num_owned(), 0u);
  });
  EXPECT_TRUE(outcome.committed());
  EXPECT_EQ(x, 3u);
  EXPECT_EQ(small[0], 11);
  EXPECT_EQ(d, 1.5);
  EXPECT_EQ(table.num_owned(), 0u);
}

TEST(VersionedSection, LeavesNoTraceWhenLeftOrThrown) {
  tm::version_table<> table;
  section s(table, 0, {});
  std::uint64_t x = 1, y = 2;
  const auto outcome = attempt(s, [&](auto access) {
    access.store(x, access.load(y));
    s.abort<tm::abort_code::left>();
  });
  EXPECT_EQ(outcome.code(), tm::abort_code::left);
  EXPECT_EQ(table.num_owned(), 0u);
  EXPECT_THROW(attempt(s,
                       [&](auto access) {
                         access.store(y, access.load(x));
                         throw std::runtime_error("from the body");
                       }),
               std::runtime_error);
  EXPECT_EQ(table.num_owned(), 0u);
  EXPECT_THROW(s.outside([&] {
    s.cell_access().store(y, s.cell_access().load(x));
    throw std::runtime_error("from the body");
  }),
               std::runtime_error);
  EXPECT_EQ(table.num_owned(), 0u);
  EXPECT_EQ(table.clock().irrevocable_owner.load(), 0u);
  EXPECT_EQ(x, 1u);
  EXPECT_EQ(y, 2u);
  s.outside([&] { s.cell_access().store(y, s.cell_access().load(x)); });
  EXPECT_EQ(y, 1u);
}

// Two transactions by hand on one thread: the first has read what the second then commits.
TEST(VersionedSection, IsLeftWhenWhatItReadHasChanged) {
  tm::version_table<> table;
  section a(table, 0, {}), b(table, 1, {});
  alignas(64) std::uint64_t cells[16] = {};
  auto &x = cells[0], &y = cells[8];
  const auto outcome = attempt(a, [&](auto access) {
    const auto seen = access.load(x);
    EXPECT_TRUE(attempt(b, [&](auto other) {
                  other.store(x, 1ul);
                  other.store(y, 1ul);
                }).committed());
    // Newer than what was read before: never seen together.
    EXPECT_EQ(access.load(y), seen);
    ADD_FAILURE() << "went on";
  });
  EXPECT_EQ(outcome.cause(), tm::abort_cause::conflict);
}

TEST(VersionedSection, MovesItsSnapshotWhenWhatItReadStillHolds) {
  tm::version_table<> table;
  section a(table, 0, {}), b(table, 1, {});
  alignas(64) std::uint64_t cells[16] = {};
  auto &x = cells[0], &y = cells[8];
  const auto outcome = attempt(a, [&](auto access) {
    EXPECT_EQ(access.load(x), 0u);
    EXPECT_TRUE(attempt(b, [&](auto other) { other.store(y, 5ul); }).committed());
    EXPECT_EQ(access.load(y), 5u);
    access.store(x, 1ul);
  });
  EXPECT_TRUE(outcome.committed());
}

TEST(VersionedSection, WaitsABoundedTimeForAnOwner) {
  tm::version_table<> table;
  section a(table, 0, {}), b(table, 1, {});
  std::uint64_t x = 0;
  EXPECT_TRUE(attempt(a, [&](auto access) {
                access.store(x, 1ul);
                const auto other = attempt(b, [&](auto late) { late.store(x, 2ul); });
                EXPECT_EQ(other.cause(), tm::abort_cause::conflict);
              }).committed());
  EXPECT_EQ(x, 1u);
}

TEST(VersionedSection, DoesNotCommitIfTheBodyCatchesTheAbort) {
  tm::version_table<> table;
  section a(table, 0, {}), b(table, 1, {});
  alignas(64) std::uint64_t cells[16] = {};
  auto &x = cells[0], &y = cells[8];
  EXPECT_TRUE(attempt(a, [&](auto access) {
                access.store(x, 1ul);
                const auto other = attempt(b, [&](auto late) {
                  late.store(y, 2ul);
                  try {
                    late.store(x, 2ul);
                  } catch (...) {
                  }
                });
                EXPECT_EQ(other.cause(), tm::abort_cause::conflict);
              }).committed());
  EXPECT_EQ(x, 1u);
  EXPECT_EQ(y, 0u);
  EXPECT_EQ(table.num_owned(), 0u);
  EXPECT_TRUE(attempt(b, [&](auto access) { access.store(y, 3ul); }).committed());
  EXPECT_EQ(y, 3u);
}

TEST(VersionedSection, WithAnyInjectedAbortsEachOperatorTakesEffectOnce) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    cairn::random64 random(seed);
    const auto rate = [&] { return random.uniform() * 0.2; };
    const tm::abort_rates rates{.conflict = rate(),
                                .capacity = rate(),
                                .lock_taken = rate(),
                                .left = rate() / 4,
                                .other = rate()};
    tm::version_table<> table(8);
    obs::counters counters(1);
    tm::section_runner runner(
        tm::injected<section>(section(table, 0, {}), tm::abort_injection(seed, rates)),
        {.first_pauses = 0, .max_pauses = 0}, seed, counters, cairn::main_worker, yield{});
    std::vector<std::uint64_t> effects(1 + random.below(20));
    auto body = [&](auto access, std::size_t first, std::size_t last) {
      for (auto i = first; i < last; ++i) access.store(effects[i], access.load(effects[i]) + 1);
    };
    auto irrevocable = [&](std::size_t first, std::size_t last) {
      body(runner.hardware().cell_access(), first, last);
    };
    auto pretouch = [](std::size_t, std::size_t) {};
    runner.run_group(tm::unsubscribed{}, 0, effects.size(), body, irrevocable, pretouch);
    ASSERT_EQ(effects, std::vector<std::uint64_t>(effects.size(), 1)) << "seed " << seed;
    ASSERT_EQ(table.num_owned(), 0u);
  }
}

// Transactions in opposite orders, each of which could wait for the other for ever.
TEST(VersionedSection, EndsWhereTwoWaitForEachOther) {
  tm::version_table<> table;
  alignas(64) std::uint64_t cells[64] = {};
  obs::counters counters(2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      tm::section_runner runner(section(table, static_cast<std::uint32_t>(t), {}), {.conflicts = 2},
                                static_cast<std::uint64_t>(t), counters, cairn::worker_t{t},
                                yield{});
      for (int i = 0; i < 100; ++i) {
        const auto body = [&](auto access) {
          for (std::size_t k = 0; k < 8; ++k) {
            auto& c = cells[8 * (t == 0 ? k : 7 - k)];
            access.store(c, access.load(c) + 1);
            std::this_thread::yield();
          }
        };
        if (runner.run(tm::unsubscribed{}, 1, body, [] {}) != tm::section_end::committed) {
          runner.hardware().outside([&] { body(runner.hardware().cell_access()); });
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  for (std::size_t k = 0; k < 8; ++k) EXPECT_EQ(cells[8 * k], 200u);
}

}  // namespace
}  // namespace cairn::tm::versioned_section_test
