// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/base/error.hpp>
#include <cairn/pgas/vertex_map.hpp>

namespace cairn::activity::sections_test {
namespace {

using obs::counter;

constexpr std::uint64_t n = 256;

struct add_one {
  struct message {
    std::uint64_t id;
  };
  pgas::vertex_map<std::uint64_t>& map;
  auto cell(const message& m) const { return map.at(m.id); }
  bool wanted(std::uint64_t, const message&) const { return true; }
  void attempt(auto x, const message&) const { x.add(1); }
};

using counts = std::array<std::uint64_t, obs::num_counters>;

// Adds one to each of n elements, in groups of 8, with aborts at these rates; what was counted.
counts count_with(const tm::abort_rates& rates, std::size_t capacity = 64,
                  const tm::retry_limits& retry = tm::retry_rtm) {
  world w;
  pgas::vertex_map<std::uint64_t> map(w, {n, 1}, 0);
  executor<add_one> op(w, add_one{map},
                       {.mechanism = mechanism::htm,
                        .grain = 8,
                        .emulate = emulation_options{.rates = rates, .capacity = capacity},
                        .retry = retry});
  am::epoch e(w);
  op.spawn(main_worker, [](auto& send) {
    for (std::uint64_t id = 0; id < n; ++id) send({id});
  });
  e.close();
  for (const auto x : map.local()) EXPECT_EQ(x, 1u);
  const auto totals = w.counters().totals();
  return totals;
}

std::uint64_t of(const counts& c, counter which) { return c[static_cast<std::size_t>(which)]; }

TEST(Sections, CommitEachGroupAtOnceWhereNothingAborts) {
  const auto c = count_with({});
  EXPECT_EQ(of(c, counter::operators), n);
  EXPECT_EQ(of(c, counter::operators_failed), 0u);
  EXPECT_EQ(of(c, counter::activities), n / 8);
  EXPECT_EQ(of(c, counter::attempts), n / 8);
  for (const auto which :
       {counter::aborts_conflict, counter::aborts_capacity, counter::aborts_explicit,
        counter::aborts_other, counter::fallbacks, counter::splits, counter::pretouches}) {
    EXPECT_EQ(of(c, which), 0u) << name(which);
  }
}

// However an attempt ends, the operators take effect once; which way, the counters tell.
TEST(Sections, FallBackAfterConflictsWithoutEnd) {
  const auto c = count_with({.conflict = 1});
  EXPECT_EQ(of(c, counter::fallbacks), n / 8);
  EXPECT_EQ(of(c, counter::attempts), of(c, counter::aborts_conflict));
  EXPECT_EQ(of(c, counter::attempts), n / 8 * (tm::retry_limits{}.conflicts + 1));
  EXPECT_EQ(of(c, counter::operators), n);
}

TEST(Sections, FallBackAsLockElisionOrBlueGeneDidWhereAskedTo) {
  for (const auto& rates : {tm::abort_rates{.conflict = 1}, tm::abort_rates{.capacity = 1},
                            tm::abort_rates{.lock_taken = 1}, tm::abort_rates{.other = 1}}) {
    const auto hle = count_with(rates, 64, tm::retry_hle);
    EXPECT_EQ(of(hle, counter::attempts), n / 8);
    EXPECT_EQ(of(hle, counter::fallbacks), n / 8);
    const auto bgq = count_with(rates, 64, tm::retry_bgq);
    EXPECT_EQ(of(bgq, counter::attempts), n / 8 * 11);
    EXPECT_EQ(of(bgq, counter::fallbacks), n / 8);
  }
}

TEST(Sections, SplitDownToSingleOperatorsWhereNothingFits) {
  const auto c = count_with({.capacity = 1});
  EXPECT_EQ(of(c, counter::splits), n / 8 * 7);  // a tree of 8 leaves has 7 inner nodes
  EXPECT_EQ(of(c, counter::fallbacks), n);
  EXPECT_EQ(of(c, counter::aborts_capacity), n / 8 * 15);
}

TEST(Sections, SplitUntilTheHalvesFit) {
  const auto c = count_with({}, 2);
  EXPECT_EQ(of(c, counter::splits), n / 8 * 3);
  EXPECT_EQ(of(c, counter::activities), n / 2);
  EXPECT_EQ(of(c, counter::fallbacks), 0u);
}

TEST(Sections, TouchMemoryAfterFaultsBeforeTheyFallBack) {
  const auto c = count_with({.other = 1});
  EXPECT_EQ(of(c, counter::pretouches), n / 8 * tm::retry_limits{}.others);
  EXPECT_EQ(of(c, counter::fallbacks), n / 8);
}

TEST(Sections, FallBackAtOnceWhenABodyLeaves) {
  const auto c = count_with({.left = 1});
  EXPECT_EQ(of(c, counter::aborts_explicit), n / 8);
  EXPECT_EQ(of(c, counter::fallbacks), n / 8);
}

TEST(Sections, WaitForTheFallbackLockABoundedNumberOfTimes) {
  const auto c = count_with({.lock_taken = 1});
  EXPECT_EQ(of(c, counter::lock_waits), n / 8 * tm::retry_limits{}.lock_waits);
  EXPECT_EQ(of(c, counter::fallbacks), n / 8);
}

TEST(Sections, MixAllCausesAndLoseNothing) {
  for (const double at_commit : {0.0, 0.5, 1.0}) {
    const auto c = count_with({.conflict = 0.2,
                               .capacity = 0.1,
                               .lock_taken = 0.1,
                               .left = 0.1,
                               .other = 0.1,
                               .at_commit = at_commit});
    EXPECT_EQ(of(c, counter::operators), n);
    const auto aborts = of(c, counter::aborts_conflict) + of(c, counter::aborts_capacity) +
                        of(c, counter::aborts_explicit) + of(c, counter::aborts_other);
    EXPECT_EQ(of(c, counter::attempts), aborts + of(c, counter::activities));
  }
}

TEST(Mechanism, IsTheOneThatWasAskedForOrKeepsItsPromise) {
  const auto how = [](int workers, const options& requested) {
    world w(workers);
    return domain(w, requested, cells::one).chosen_mechanism();
  };
  world w;
  const bool htm = w.transactions().works;
  const emulation_options emulated{};
  EXPECT_EQ(how(1, {}), mechanism::plain);
  EXPECT_EQ(how(2, {}), mechanism::atomics);
  EXPECT_EQ(how(2, {.emulate = emulated}), mechanism::htm);
  EXPECT_EQ(how(1, {.mechanism = mechanism::htm}), htm ? mechanism::htm : mechanism::atomics);
  EXPECT_EQ(how(1, {.mechanism = mechanism::htm, .emulate = emulated}), mechanism::htm);
  EXPECT_EQ(how(2, {.mechanism = mechanism::locks}), mechanism::locks);
  EXPECT_EQ(how(1, {.mechanism = mechanism::atomics}), mechanism::atomics);
  EXPECT_EQ(how(1, {.mechanism = mechanism::plain}), mechanism::plain);
  EXPECT_EQ(how(2, {.mechanism = mechanism::one_lock}), mechanism::one_lock);
  EXPECT_THROW(static_cast<void>(how(2, {.mechanism = mechanism::plain})), usage_error);
  EXPECT_THROW(static_cast<void>(how(2, {.mechanism = mechanism::stm})), usage_error);
}

TEST(Mechanism, HasANameThatParsesBack) {
  for (const auto m : {mechanism::automatic, mechanism::plain, mechanism::atomics, mechanism::htm,
                       mechanism::locks, mechanism::one_lock, mechanism::stm}) {
    EXPECT_EQ(parse_mechanism(name(m)), m);
  }
  EXPECT_EQ(name(mechanism::automatic), "auto");
  try {
    static_cast<void>(parse_mechanism("magic"));
    ADD_FAILURE();
  } catch (const usage_error& e) {
    EXPECT_STREQ(
        e.what(),
        "the mechanism is 'magic', expected auto, plain, atomics, htm, locks, one-lock or stm");
  }
}

TEST(Grain, IsBoundedAndCountsOnlyForTransactions) {
  world w;
  pgas::vertex_map<std::uint64_t> map(w, {4, 1}, 0);
  const auto grain = [&](const options& requested) {
    return executor<add_one>(w, add_one{map}, requested).grain();
  };
  const emulation_options emulated{};
  EXPECT_EQ(grain({.mechanism = mechanism::htm, .emulate = emulated}), start_values{}.htm_grain);
  EXPECT_EQ(grain({.mechanism = mechanism::htm, .grain = 3, .emulate = emulated}), 3u);
  EXPECT_EQ(grain({.mechanism = mechanism::htm, .grain = 100'000, .emulate = emulated}), max_grain);
  EXPECT_EQ(grain({.mechanism = mechanism::atomics, .grain = 3}), 1u);
}

}  // namespace
}  // namespace cairn::activity::sections_test
