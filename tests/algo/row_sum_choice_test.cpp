// SPDX-License-Identifier: Apache-2.0
#include "algo/row_sum_choice.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

namespace cairn::algo::row_sum_choice_test {
namespace {

constexpr worker_t first{0}, second{1};
using speeds = std::array<std::uint64_t, 3>;  // ns per term, by way

// Reports `stretches` of worker k; returns how often it went each way.
speeds sweep(row_sum_choice& choice, worker_t k, int stretches, const speeds& ns) {
  speeds went{};
  for (int i = 0; i < stretches; ++i) {
    const auto way = choice.next(k);
    ++went[static_cast<std::size_t>(way)];
    choice.took(k, way, 1000, 1000 * ns[static_cast<std::size_t>(way)]);
  }
  return went;
}

TEST(RowSumChoice, MostStretchesGoTheFastestWaySoFarAndAllRowsLater) {
  for (std::size_t best = 0; best < 3; ++best) {
    speeds ns{5, 5, 5};
    ns[best] = 3;
    row_sum_choice choice(1, {});
    EXPECT_TRUE(choice.learns());
    EXPECT_GT(sweep(choice, first, 80, ns)[best], 50u);
    choice.end();
    EXPECT_FALSE(choice.learns());
    EXPECT_EQ(choice.chosen(), static_cast<row_sum>(best));
  }
}

TEST(RowSumChoice, WithoutTimesOrDifferencesChoosesNear) {
  row_sum_choice none(1, {}), one(1, {}), simulated(1, {}), equal(1, {});
  sweep(one, first, 1, {9, 1, 1});
  sweep(simulated, first, 80, {0, 0, 0});
  sweep(equal, first, 80, {4, 4, 4});
  for (auto* c : {&none, &one, &simulated, &equal}) {
    c->end();
    EXPECT_EQ(c->chosen(), row_sum::near);
  }
}

TEST(RowSumChoice, AColdOrInterruptedStretchDoesNotDecide) {
  row_sum_choice choice(1, {});
  choice.took(first, choice.next(first), 1000, 100'000);  // cold
  sweep(choice, first, 40, {3, 4, 4});
  while (choice.next(first) != row_sum::near) {
  }
  choice.took(first, row_sum::near, 1000, 1'000'000);  // interrupted
  choice.end();
  EXPECT_EQ(choice.chosen(), row_sum::near);
}

TEST(RowSumChoice, AnInterruptionAtTheBeginningDoesNotDecide) {
  for (int interrupted = 0; interrupted < 6; ++interrupted) {
    row_sum_choice choice(1, {});
    sweep(choice, first, interrupted, {4, 3, 4});
    choice.took(first, choice.next(first), 1000, 10'000'000);
    sweep(choice, first, 400, {4, 3, 4});
    choice.end();
    EXPECT_EQ(choice.chosen(), row_sum::even) << interrupted;
  }
}

// A graph may begin with rows without entries, which cost little.
TEST(RowSumChoice, LaterStretchesMayCostMoreThanTheFirst) {
  row_sum_choice choice(1, {});
  sweep(choice, first, 16, {1, 1, 1});
  sweep(choice, first, 2000, {14, 15, 9});
  choice.end();
  EXPECT_EQ(choice.chosen(), row_sum::far);
}

TEST(RowSumChoice, TimesOfAllWorkersAreAdded) {
  for (const auto& [few, many] : {std::pair{first, second}, std::pair{second, first}}) {
    row_sum_choice choice(2, {});
    sweep(choice, few, 20, {4, 3, 5});
    sweep(choice, many, 200, {4, 9, 2});
    choice.end();
    EXPECT_EQ(choice.chosen(), row_sum::far);
  }
}

TEST(RowSumChoice, LearnsNothingIfAWayIsGiven) {
  for (const auto given : {row_sum::near, row_sum::even, row_sum::far}) {
    const row_sum_choice choice(2, given);
    EXPECT_FALSE(choice.learns());
    EXPECT_EQ(choice.chosen(), given);
  }
}

TEST(RowSumChoice, IsMadeByRunsInGraphsThatCachesHold) {
  EXPECT_TRUE(compares_runs(86'475, 4 * 40'461));
  EXPECT_FALSE(compares_runs(2'000'000, 4 * 65'536));
  EXPECT_FALSE(compares_runs(200'000, 8 * 100'000));
}

}  // namespace
}  // namespace cairn::algo::row_sum_choice_test
