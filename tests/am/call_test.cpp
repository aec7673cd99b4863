// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/am/call.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/task/future.hpp>
#include <cairn/task/when_all.hpp>

#include <support/num_schedules.hpp>
#include <support/places.hpp>

namespace cairn::am::call_test {
namespace {

class Call : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Call, ::testing::ValuesIn(support::all_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Served, Call, ::testing::ValuesIn(support::served_places()),
                         support::place_name);

std::uint64_t plain_square(world& w, std::uint64_t x) {
  return x * x + static_cast<std::uint64_t>(w.rank());
}

task::task<std::uint64_t> task_square(world& w, std::uint64_t x) {
  co_await task::yield();
  co_return x* x + static_cast<std::uint64_t>(w.rank());
}

task::task<void> ask_for_squares(world* w, std::uint64_t i) {
  for (rank_t r = 0; r < w->size(); ++r) {
    const auto expected = i * i + static_cast<std::uint64_t>(r);
    const auto a = co_await w->call<&plain_square>(r, i);
    EXPECT_EQ(a, expected);
    const auto b = co_await w->call<&task_square>(r, i);
    EXPECT_EQ(b, expected);
  }
}

task::task<void> many_ask(world* w, std::uint64_t n) {
  std::vector<task::task<void>> all;
  for (std::uint64_t i = 0; i < n; ++i) all.push_back(ask_for_squares(w, i));
  co_await task::when_all(std::move(all));
}

TEST_P(Call, RunsAtTheRankAndReturnsTheValue) {
  GetParam().run(
      [](world& w) {
        for (int round = 0; round < 2; ++round) {
          w.run(many_ask(&w, 40));
          EXPECT_EQ(w.tasks().num_live(), 0u);
          w.barrier();
        }
      },
      {.coalesce_bytes = 256});
}

std::vector<std::string> repeated(const std::string& s, std::vector<int> times) {
  std::vector<std::string> all;
  for (const int n : times) {
    all.emplace_back();
    for (int i = 0; i < n; ++i) all.back() += s;
  }
  return all;
}
void nothing_at_all() {}

task::task<void> ask_for_strings(world* w) {
  const std::vector<int> times{0, 3, 1000};
  for (rank_t r = 0; r < w->size(); ++r) {
    const auto found = co_await w->call<&repeated>(r, "ab", times);
    EXPECT_EQ(found, repeated("ab", times));
    co_await w->call<&nothing_at_all>(r);
  }
}

TEST_P(Call, ArgumentsAndValuesOfAnySizeTravel) {
  GetParam().run([](world& w) { w.run(ask_for_strings(&w)); }, {.coalesce_bytes = 256});
}

// Each call makes two at the neighbors: far more at once than any bound on calls would be.
task::task<std::uint64_t> tree(world& w, int depth) {
  if (depth == 0) co_return 1;
  const auto right = static_cast<rank_t>((w.rank() + 1) % w.size());
  const auto left = static_cast<rank_t>((w.rank() + w.size() - 1) % w.size());
  const auto a = co_await w.call<&tree>(right, depth - 1);
  const auto b = co_await w.call<&tree>(left, depth - 1);
  co_return a + b;
}

TEST_P(Call, CallsNest) {
  GetParam().run([](world& w) { EXPECT_EQ(w.run(tree(w, 6)), 64u); });
}

task::task<void> fails(int failure) {
  co_await task::yield();
  if (failure == 1) throw std::runtime_error("it failed there");
}
void fails_plainly() { throw std::runtime_error("it failed at once"); }

task::task<int> catch_failures(world* w) {
  int caught = 0;
  for (rank_t r = 0; r < w->size(); ++r) {
    try {
      co_await w->call<&fails>(r, 1);
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "it failed there");
      ++caught;
    }
    try {
      co_await w->call<&fails_plainly>(r);
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "it failed at once");
      ++caught;
    }
    co_await w->call<&fails>(r, 0);
  }
  co_return caught;
}

TEST_P(Call, ExceptionsReachTheCaller) {
  GetParam().run([](world& w) { EXPECT_EQ(w.run(catch_failures(&w)), 2 * w.size()); });
}

task::task<void> never_ends() {
  for (;;) co_await task::yield();
}
task::task<void> waits_for(world* w, rank_t at) { co_await w->call<&never_ends>(at); }

task::task<void> cancels(world* w, int n) {
  std::vector<task::task<void>> all;
  for (int i = 0; i < n; ++i) all.push_back(waits_for(w, static_cast<rank_t>(i) % w->size()));
  const auto waiting = co_await task::spawn(waits_for(w, 0));
  const auto right = static_cast<rank_t>((w->rank() + 1) % w->size());
  co_await w->call<&plain_square>(right, 1);
  if (w->rank() == 0) w->cancel();
  co_await task::when_all(std::move(all));
}

TEST_P(Call, CancelDestroysCallersAndCallees) {
  GetParam().run(
      [](world& w) {
        for (int round = 0; round < 3; ++round) {
          EXPECT_THROW(w.run(cancels(&w, 50)), cancelled);
          EXPECT_EQ(w.tasks().num_live(), 0u);
          w.barrier();  // from here on the others may call
          w.run(many_ask(&w, 3));
        }
      },
      {.coalesce_bytes = 256});
}

TEST(CallSeeds, CancelAtAnyMoment) {
  for (std::uint64_t seed = 1; seed <= support::few_when_sanitized(200); ++seed) {
    support::on_simulated_ranks(3, 2, seed, [](world& w) {
      EXPECT_THROW(w.run(cancels(&w, 6)), cancelled);
      EXPECT_EQ(w.tasks().num_live(), 0u);
      w.barrier();
      w.run(many_ask(&w, 2));
    });
  }
}

task::task<void> throws_on_last(world* w) {
  co_await w->call<&nothing_at_all>(0);
  if (w->rank() == w->size() - 1) throw std::runtime_error("a root broke");
  co_await w->call<&never_ends>(0);
}

TEST_P(Call, AFailedRootEndsTheRunOfAllRanks) {
  const auto run = [&] { GetParam().run([](world& w) { w.run(throws_on_last(&w)); }); };
  EXPECT_THROW(run(), std::runtime_error);
}

}  // namespace
}  // namespace cairn::am::call_test
