// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/hw/pages.hpp>
#include <cairn/hw/tm_probe.hpp>
#include <cairn/tm/abort_injection.hpp>
#include <cairn/tm/section.hpp>

namespace cairn::tm::hardware_section_test {
namespace {

// Interrupts may abort any one attempt; so many in a row they do not.
constexpr int many_tries = 10'000;
const auto yield = [](unsigned) { std::this_thread::yield(); };

struct RtmHardware : ::testing::Test {
  void SetUp() override {
    const auto probe = cairn::hw::probe_transactions();
    if (!probe.works) GTEST_SKIP() << "no hardware transactions: " << probe.reason;
  }

  tm::rtm_hardware hardware;
  std::uint64_t cell = 5;

  // Tries until an attempt commits or aborts for `awaited`; other aborts are interrupts.
  template <class Hardware, class Entry, class Body>
  static attempt_outcome until(abort_cause awaited, Hardware& h, Entry entry, Body&& body) {
    auto last = attempt_outcome::success();
    for (int i = 0; i < many_tries; ++i) {
      last = tm::attempt_section(h, entry, body);
      if (last.committed() || last.cause() == awaited) break;
    }
    return last;
  }
};

TEST_F(RtmHardware, CommitsWhatTheBodyWrote) {
  const auto add = [&](auto access) { tm::cell_ref(cell, access).add(1); };
  // Waiting for a cause that cannot be: every abort is tried again.
  EXPECT_TRUE(until(abort_cause::explicit_, hardware, tm::unsubscribed{}, add).committed());
  EXPECT_EQ(cell, 6u);
}

TEST_F(RtmHardware, LeavingUndoesWritesToSharedAndOwnMemory) {
  std::uint64_t local = 1;
  const auto write_and_leave = [&](auto access) {
    tm::cell_ref(cell, access).add(1);
    local = 2;
    hardware.abort<abort_code::left>();
  };
  const auto outcome = until(abort_cause::explicit_, hardware, tm::unsubscribed{}, write_and_leave);
  EXPECT_EQ(outcome, attempt_outcome::abort(abort_cause::explicit_, abort_code::left));
  EXPECT_EQ(cell, 5u);
  EXPECT_EQ(local, 1u);
}

TEST_F(RtmHardware, LeavesIfTheFallbackLockIsTaken) {
  tm::fallback_lock lock;
  const auto add = [&](auto access) { tm::cell_ref(cell, access).add(1); };
  {
    const tm::fallback_lock::guard held(lock, yield);
    const auto outcome = until(abort_cause::explicit_, hardware, tm::subscribed(lock), add);
    EXPECT_EQ(outcome.code(), abort_code::lock_taken);
    EXPECT_EQ(cell, 5u);
  }
  EXPECT_TRUE(until(abort_cause::explicit_, hardware, tm::subscribed(lock), add).committed());
  EXPECT_EQ(cell, 6u);
}

TEST_F(RtmHardware, WhatOutgrowsTheHardwareNeverCommits) {
  cairn::hw::page_buffer<std::uint64_t> big(std::size_t{64} << 20 >> 3);
  big.prefault();
  const auto write_all = [&](auto access) {
    for (std::size_t i = 0; i < big.size(); i += 8) tm::cell_ref(big[i], access).add(1);
  };
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(tm::attempt_section(hardware, tm::unsubscribed{}, write_all).committed());
  }
  for (const auto word : big) ASSERT_EQ(word, 0u);
}

TEST_F(RtmHardware, InjectedAbortsLookLikeRealOnes) {
  for (const bool at_commit : {false, true}) {
    for (const auto cause : {abort_cause::conflict, abort_cause::capacity, abort_cause::explicit_,
                             abort_cause::other}) {
      const auto wanted = attempt_outcome::abort(cause, abort_code::left);
      const std::vector<tm::injected_abort> always(many_tries, {wanted, at_commit});
      tm::injected<tm::rtm_hardware> injected(hardware, tm::abort_injection(1, {}, always));
      const auto add = [&](auto access) { tm::cell_ref(cell, access).add(1); };
      const auto outcome = until(cause, injected, tm::unsubscribed{}, add);
      EXPECT_FALSE(outcome.committed());
      EXPECT_EQ(outcome.cause(), cause);
      EXPECT_EQ(outcome.code(), wanted.code());
      EXPECT_EQ(cell, 5u);
    }
  }
}

// Sections of all threads on few cells, with fallbacks of both kinds mixed in.
template <bool Domain>
std::uint64_t sum_on_threads() {
  constexpr int workers = 4;
  constexpr std::size_t operators = 20'000;
  std::vector<std::uint64_t> cells(24, 0);
  tm::fallback_lock lock;
  cairn::obs::counters counters(workers);
  std::vector<std::thread> threads;
  for (cairn::worker_t k{0}; k < workers; ++k) {
    threads.emplace_back([&, k] {
      const auto seed = static_cast<std::uint64_t>(k);
      const tm::abort_rates rates{.conflict = 0.1, .capacity = 0.05, .left = 0.05, .other = 0.05};
      tm::injected<tm::rtm_hardware> hardware({}, tm::abort_injection(seed, rates));
      tm::section_runner runner(std::move(hardware), {}, seed, counters, k, yield);
      const auto body = [&cells](auto access, std::size_t first, std::size_t last) {
        for (auto i = first; i < last; ++i) tm::cell_ref(cells[i * 7 % 24], access).add(1);
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
      for (std::size_t i = 0; i < operators; i += 16) {
        if constexpr (Domain) {
          runner.run_group(tm::subscribed(lock), i, i + 16, body, fallback, pretouch);
        } else {
          runner.run_group(tm::unsubscribed{}, i, i + 16, body, fallback, pretouch);
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_GT(counters.total(cairn::obs::counter::fallbacks), 0u);
  std::uint64_t sum = 0;
  for (const auto c : cells) sum += c;
  return sum - workers * operators;
}

TEST_F(RtmHardware, SingleCellGroupsWithAtomicsAsFallbackLoseNothing) {
  EXPECT_EQ(sum_on_threads<false>(), 0u);
}

TEST_F(RtmHardware, DomainsWithAFallbackLockLoseNothing) { EXPECT_EQ(sum_on_threads<true>(), 0u); }

}  // namespace
}  // namespace cairn::tm::hardware_section_test
