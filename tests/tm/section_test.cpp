// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/tm/abort_injection.hpp>
#include <cairn/tm/emulated_section.hpp>
#include <cairn/tm/section.hpp>

#include <support/exclusive_hardware.hpp>

namespace cairn::tm::section_test {
namespace {

using cairn::support::exclusive_hardware;
using obs::counter;

const auto yield = [](unsigned) { std::this_thread::yield(); };
using range = std::pair<std::size_t, std::size_t>;
using ranges = std::vector<range>;

// A group of operators, each of which adds 1 to a cell of its own, and what happened to it.
template <class Hardware>
struct group_run {
  obs::counters counters{1};
  std::vector<std::uint32_t> cells;
  ranges bodies, fallbacks, pretouches;

  group_run(Hardware hardware, std::size_t operators, const tm::retry_limits& limits = {})
      : cells(operators, 0) {
    tm::section_runner runner(std::move(hardware), limits, 1, counters, main_worker, yield);
    const auto body = [this](auto access, std::size_t first, std::size_t last) {
      bodies.push_back({first, last});
      for (auto i = first; i < last; ++i) tm::cell_ref(cells[i], access).add(1);
    };
    const auto fallback = [this](std::size_t first, std::size_t last) {
      fallbacks.push_back({first, last});
      for (auto i = first; i < last; ++i) {
        tm::cell_ref<std::uint32_t, tm::atomic_access>(cells[i]).add(1);
      }
    };
    const auto pretouch = [this](std::size_t first, std::size_t last) {
      pretouches.push_back({first, last});
    };
    commits = runner.run_group(tm::unsubscribed{}, 0, operators, body, fallback, pretouch);
  }

  bool each_once() const {
    return std::all_of(cells.begin(), cells.end(), [](std::uint32_t c) { return c == 1; });
  }
  std::uint64_t count(counter c) const { return counters.total(c); }

  std::size_t commits = 0;
};

tm::injected<exclusive_hardware> scripted(const std::vector<attempt_outcome>& outcomes) {
  std::vector<tm::injected_abort> script;
  for (const auto o : outcomes) script.push_back({o, false});
  return {exclusive_hardware{}, tm::abort_injection(1, {}, std::move(script))};
}

const auto ok = attempt_outcome::success();
const auto conflict = attempt_outcome::abort(abort_cause::conflict);
const auto capacity = attempt_outcome::abort(abort_cause::capacity);
const auto other = attempt_outcome::abort(abort_cause::other);
const auto left = attempt_outcome::abort(abort_cause::explicit_, abort_code::left);

TEST(Section, CommitsAWholeGroupAtOnceWithoutConflicts) {
  const group_run run(exclusive_hardware{}, 16);
  EXPECT_TRUE(run.each_once());
  EXPECT_EQ(run.commits, 1u);
  EXPECT_EQ(run.bodies, (ranges{{0, 16}}));
  EXPECT_EQ(run.count(counter::attempts), 1u);
  EXPECT_EQ(run.count(counter::fallbacks), 0u);
}

TEST(Section, RetriesAfterConflicts) {
  const group_run run(scripted({conflict, conflict, ok}), 4, {.conflicts = 2});
  EXPECT_TRUE(run.each_once());
  EXPECT_EQ(run.commits, 1u);
  EXPECT_EQ(run.count(counter::attempts), 3u);
  EXPECT_EQ(run.count(counter::aborts_conflict), 2u);
}

TEST(Section, FallsBackAfterTooManyConflicts) {
  const group_run run(scripted({conflict, conflict, conflict, ok}), 4, {.conflicts = 2});
  EXPECT_TRUE(run.each_once());
  EXPECT_EQ(run.commits, 0u);
  EXPECT_EQ(run.fallbacks, (ranges{{0, 4}}));
  EXPECT_EQ(run.count(counter::attempts), 3u);
  EXPECT_EQ(run.count(counter::fallbacks), 1u);
}

TEST(Section, SplitsInHalvesOnCapacityAndFallsBackWithOneOperator) {
  const group_run run(scripted({capacity, capacity, ok, capacity, ok}), 5);
  EXPECT_TRUE(run.each_once());
  // [0,5) too large; [0,2) too large; [0,1) fits; [1,2) too large; [2,5) fits.
  EXPECT_EQ(run.bodies, (ranges{{0, 1}, {2, 5}}));
  EXPECT_EQ(run.fallbacks, (ranges{{1, 2}}));
  EXPECT_EQ(run.commits, 2u);
  EXPECT_EQ(run.count(counter::splits), 2u);
  EXPECT_EQ(run.count(counter::aborts_capacity), 3u);
  EXPECT_EQ(run.count(counter::fallbacks), 1u);
}

TEST(Section, PretouchesItsOwnRangeAfterAFaultAndRetries) {
  const group_run run(scripted({capacity, other, ok, other, other, other}), 8, {.others = 2});
  EXPECT_TRUE(run.each_once());
  EXPECT_EQ(run.pretouches, (ranges{{0, 4}, {4, 8}, {4, 8}}));
  EXPECT_EQ(run.fallbacks, (ranges{{4, 8}}));
  EXPECT_EQ(run.count(counter::pretouches), 3u);
  EXPECT_EQ(run.count(counter::aborts_other), 4u);
}

TEST(Section, FallsBackAtOnceWhenTheBodyLeft) {
  const group_run run(scripted({left, ok}), 4);
  EXPECT_TRUE(run.each_once());
  EXPECT_EQ(run.fallbacks, (ranges{{0, 4}}));
  EXPECT_EQ(run.count(counter::attempts), 1u);
  EXPECT_EQ(run.count(counter::aborts_explicit), 1u);
}

TEST(Section, SplitsUntilASectionFitsTheHardware) {
  tm::emulation shared{.running = {}, .capacity = 3, .relax = yield};
  const group_run run(tm::emulated_hardware(shared), 8);
  EXPECT_TRUE(run.each_once());
  EXPECT_EQ(run.commits, 4u);
  EXPECT_EQ(run.count(counter::splits), 3u);
  EXPECT_EQ(run.count(counter::attempts), 7u);
}

TEST(Section, WithAnyInjectedAbortsEachOperatorTakesEffectOnce) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    cairn::random64 random(seed);
    const auto rate = [&] { return random.uniform() * 0.2; };
    tm::abort_rates rates{.conflict = rate(),
                          .capacity = rate(),
                          .lock_taken = rate(),
                          .left = rate() / 4,
                          .other = rate()};
    const auto operators = 1 + random.below(20);
    const tm::abort_injection injection(seed, rates);
    tm::emulation shared{.running = {}, .capacity = 1 + random.below(20), .relax = yield};
    const group_run emulated(
        tm::injected<tm::emulated_hardware>(tm::emulated_hardware(shared), injection), operators,
        {.first_pauses = 0, .max_pauses = 0});
    ASSERT_TRUE(emulated.each_once()) << "seed " << seed;
    rates.at_commit = 0;  // nothing can be undone
    const group_run exclusive(
        tm::injected<exclusive_hardware>({}, tm::abort_injection(seed, rates)), operators);
    ASSERT_TRUE(exclusive.each_once()) << "seed " << seed;
    // Every attempt committed or has a cause, and every abort led somewhere.
    for (const auto* c : {&emulated.counters, &exclusive.counters}) {
      const auto& run = c == &emulated.counters ? emulated.commits : exclusive.commits;
      ASSERT_EQ(c->total(counter::attempts),
                run + c->total(counter::aborts_conflict) + c->total(counter::aborts_capacity) +
                    c->total(counter::aborts_explicit) + c->total(counter::aborts_other));
    }
  }
}

// A holder of the fallback lock between its two steps, when a transaction of another worker
// runs as a whole: hardware sees no conflict then, for the holder has yet to write.
template <class Entry>
std::uint64_t total_when_a_section_meets_a_holder(Entry&& entry_for) {
  std::uint64_t cell = 0;
  tm::fallback_lock lock;
  obs::counters counters(1);
  std::unique_ptr<tm::fallback_lock::guard> holder;
  std::uint64_t read_by_holder = 0;
  const auto holder_goes_on = [&](unsigned = 0) {
    if (!holder) return;
    tm::cell_ref<std::uint64_t, tm::section_access>(cell).exchange(read_by_holder + 1);
    holder.reset();
  };
  holder = std::make_unique<tm::fallback_lock::guard>(lock, yield);
  read_by_holder = tm::load_cell(cell);

  tm::section_runner runner(exclusive_hardware{}, {}, 1, counters, main_worker, holder_goes_on);
  const auto end = runner.run(
      entry_for(lock), 1, [&](auto access) { tm::cell_ref(cell, access).add(1); }, [] {});
  EXPECT_EQ(end, tm::section_end::committed);
  holder_goes_on();
  return cell;
}

TEST(Section, SubscribedWaitsForTheHolderOfTheFallbackLock) {
  EXPECT_EQ(total_when_a_section_meets_a_holder([](auto& lock) { return tm::subscribed(lock); }),
            2u);
}

TEST(Section, ATwinThatDoesNotSubscribeLosesAnUpdate) {
  EXPECT_EQ(total_when_a_section_meets_a_holder([](auto&) { return tm::unsubscribed{}; }), 1u);
}

TEST(Section, FallsBackWhenTheLockIsTakenAgainAndAgain) {
  tm::fallback_lock lock;
  obs::counters counters(1);
  std::unique_ptr<tm::fallback_lock::guard> holder;
  const auto release = [&](unsigned) { holder.reset(); };
  tm::section_runner runner(exclusive_hardware{}, {.lock_waits = 3}, 1, counters, main_worker,
                            release);
  // Entering, another worker has always just taken the lock.
  struct unlucky : tm::subscribed {
    std::unique_ptr<tm::fallback_lock::guard>* holder;
    tm::fallback_lock* lock;
    bool blocked() const {
      *holder = std::make_unique<tm::fallback_lock::guard>(*lock, yield);
      return subscribed::blocked();
    }
  };
  const auto end = runner.run(
      unlucky{tm::subscribed(lock), &holder, &lock}, 8, [](auto) { FAIL() << "ran"; }, [] {});
  EXPECT_EQ(end, tm::section_end::fall_back);
  EXPECT_EQ(counters.total(counter::attempts), 4u);
  EXPECT_EQ(counters.total(counter::aborts_explicit), 4u);
  EXPECT_EQ(counters.total(counter::lock_waits), 3u);
}

// The two ways to use a runner, on threads, with all kinds of aborts. Each operator moves 1
// between neighbors, so that sections overlap and a lost or doubled one shows.
template <bool Domain>
std::vector<std::int64_t> move_on_threads(int workers, std::size_t moves) {
  std::vector<std::int64_t> cells(16, 0);
  tm::emulation shared{.running = {}, .capacity = 12, .relax = yield};
  tm::fallback_lock lock;
  obs::counters counters(workers);
  std::vector<std::thread> threads;
  for (cairn::worker_t k{0}; k < workers; ++k) {
    threads.emplace_back([&, k] {
      tm::abort_rates rates{
          .conflict = 0.2, .capacity = 0.1, .lock_taken = 0.1, .left = 0.05, .other = 0.1};
      const auto seed = static_cast<std::uint64_t>(k);
      tm::injected<tm::emulated_hardware> hardware(tm::emulated_hardware(shared),
                                                   tm::abort_injection(seed, rates));
      tm::section_runner runner(std::move(hardware), {}, seed, counters, k, yield);
      const auto body = [&](auto access, std::size_t first, std::size_t last) {
        for (auto i = first; i < last; ++i) {
          tm::cell_ref(cells[i % 16], access).add(-1);
          tm::cell_ref(cells[(i + 1) % 16], access).add(+1);
        }
      };
      const auto pretouch = [](std::size_t, std::size_t) {};
      const auto fallback = [&](std::size_t first, std::size_t last) {
        if constexpr (Domain) {
          const tm::fallback_lock::guard held(lock, yield);
          body(tm::section_access{}, first, last);
        } else {
          body(tm::atomic_access{}, first, last);
        }
      };
      for (std::size_t i = 0; i + 10 <= moves; i += 10) {
        if constexpr (Domain) {
          runner.run_group(tm::subscribed(lock), i, i + 10, body, fallback, pretouch);
        } else {
          runner.run_group(tm::unsubscribed{}, i, i + 10, body, fallback, pretouch);
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_GT(counters.total(counter::fallbacks), 0u);
  EXPECT_GT(counters.total(counter::splits), 0u);
  return cells;
}

TEST(Section, SingleCellGroupsLoseNothingOnThreads) {
  // Each worker makes a multiple of 16 moves: once round, nothing has moved.
  EXPECT_EQ(move_on_threads<false>(4, 1'600), std::vector<std::int64_t>(16, 0));
}

TEST(Section, DomainsWithAFallbackLockLoseNothingOnThreads) {
  EXPECT_EQ(move_on_threads<true>(4, 1'600), std::vector<std::int64_t>(16, 0));
}

}  // namespace
}  // namespace cairn::tm::section_test
