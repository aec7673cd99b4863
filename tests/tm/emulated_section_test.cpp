// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/tm/abort_injection.hpp>
#include <cairn/tm/emulated_section.hpp>
#include <cairn/tm/section.hpp>

namespace cairn::tm::emulated_section_test {
namespace {

struct EmulatedSection : ::testing::Test {
  tm::emulation shared{
      .running = {}, .capacity = 4, .relax = [](unsigned) { std::this_thread::yield(); }};
  tm::emulated_hardware hardware{shared};
  std::uint32_t a = 1;
  double b = 2;

  template <class Body>
  attempt_outcome attempt(Body&& body) {
    return tm::attempt_section(hardware, tm::unsubscribed{}, body);
  }
};

TEST_F(EmulatedSection, ShowsItsWritesToItselfAtOnceAndToOthersAtTheCommit) {
  const auto outcome = attempt([&](auto access) {
    const tm::cell_ref x(a, access);
    const tm::cell_ref y(b, access);
    EXPECT_EQ(x.add(10), 1u);
    EXPECT_EQ(x.load(), 11u);
    EXPECT_EQ(y.exchange(5.5), 2.0);
    EXPECT_EQ(y.load(), 5.5);
    EXPECT_EQ(tm::load_cell(a), 1u);
    EXPECT_EQ(tm::load_cell(b), 2.0);
    EXPECT_TRUE(shared.running.taken());
  });
  EXPECT_TRUE(outcome.committed());
  EXPECT_EQ(a, 11u);
  EXPECT_EQ(b, 5.5);
  EXPECT_FALSE(shared.running.taken());
}

TEST_F(EmulatedSection, LeavesNoTraceWhenTheBodyLeaves) {
  const auto outcome = attempt([&](auto access) {
    tm::cell_ref(a, access).add(10);
    hardware.abort<tm::abort_code::left>();
  });
  EXPECT_EQ(outcome, attempt_outcome::abort(abort_cause::explicit_, tm::abort_code::left));
  EXPECT_EQ(a, 1u);
  EXPECT_FALSE(shared.running.taken());
  EXPECT_TRUE(
      attempt([&](auto access) { EXPECT_EQ(tm::cell_ref(a, access).load(), 1u); }).committed());
}

TEST_F(EmulatedSection, DoesNotCommitIfTheBodyCatchesTheAbort) {
  std::vector<std::uint32_t> cells(5, 0);
  const auto outcome = attempt([&](auto access) {
    try {
      for (auto& c : cells) access.store(c, 1u);
    } catch (...) {
    }
  });
  EXPECT_EQ(outcome.cause(), abort_cause::capacity);
  EXPECT_EQ(cells, std::vector<std::uint32_t>(5, 0));
  EXPECT_TRUE(attempt([&](auto access) { tm::cell_ref(a, access).add(1); }).committed());
  EXPECT_EQ(a, 2u);
}

TEST_F(EmulatedSection, AbortsForCapacityAtOneCellTooMany) {
  std::vector<std::uint32_t> cells(5, 0);
  const auto write_first = [&](std::size_t n) {
    return attempt([&](auto access) {
      for (int twice = 0; twice < 2; ++twice) {
        for (std::size_t i = 0; i < n; ++i) tm::cell_ref(cells[i], access).add(1);
      }
    });
  };
  EXPECT_TRUE(write_first(4).committed());
  EXPECT_EQ(write_first(5).cause(), abort_cause::capacity);
  EXPECT_EQ(cells, (std::vector<std::uint32_t>{2, 2, 2, 2, 0}));
}

TEST_F(EmulatedSection, ABodyThatThrowsLeavesNoTraceAndNoLock) {
  EXPECT_THROW(attempt([&](auto access) {
                 tm::cell_ref(a, access).add(10);
                 throw std::runtime_error("the body's own fault");
               }),
               std::runtime_error);
  EXPECT_EQ(a, 1u);
  EXPECT_FALSE(shared.running.taken());
}

TEST_F(EmulatedSection, AnInjectedAbortAtTheCommitLeavesNoTrace) {
  for (const bool at_commit : {false, true}) {
    const auto conflict = attempt_outcome::abort(abort_cause::conflict);
    tm::injected<tm::emulated_hardware> injected(
        hardware, tm::abort_injection(1, {}, {{conflict, at_commit}}));
    bool ran = false;
    const auto body = [&](auto access) {
      tm::cell_ref(a, access).add(1);
      ran = true;
    };
    a = 1;
    EXPECT_EQ(tm::attempt_section(injected, tm::unsubscribed{}, body), conflict);
    EXPECT_EQ(ran, at_commit);
    EXPECT_EQ(a, 1u);
    EXPECT_TRUE(tm::attempt_section(injected, tm::unsubscribed{}, body).committed());
    EXPECT_EQ(a, 2u);
  }
}

TEST_F(EmulatedSection, SectionsAndOutsideWritersOfAllThreadsAreKeptApart) {
  std::vector<std::uint64_t> cells(3, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      tm::emulated_hardware own(shared);
      for (int i = 0; i < 2'000; ++i) {
        const auto add = [&](auto access) {
          for (auto& c : cells) tm::cell_ref(c, access).add(1);
        };
        if (t % 2 == 0) {
          tm::attempt_section(own, tm::unsubscribed{}, add);
        } else {
          own.outside([&] { add(tm::section_access{}); });
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(cells, std::vector<std::uint64_t>(3, 8'000));
}

}  // namespace
}  // namespace cairn::tm::emulated_section_test
