// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/task/in_flight_tuner.hpp>

namespace cairn::task::in_flight_tuner_test {
namespace {

using cost_function = std::function<double(std::size_t number)>;

// Cheapest at `best`, and the more expensive the farther away.
cost_function valley(std::size_t best) {
  return [best](std::size_t number) {
    const auto n = static_cast<double>(number), b = static_cast<double>(best);
    return 10 + 10 * (n < b ? b / n - 1 : n / b - 1);
  };
}

/// Batches of which only the measured ones cost what the function says.
struct player {
  in_flight_tuner tuner;
  std::uint64_t measured = 0;

  void play(int batches, const cost_function& cost) {
    for (int i = 0; i < batches; ++i) {
      measured += tuner.wants_cost() ? 1 : 0;
      tuner.took(tuner.wants_cost() ? cost(tuner.number()) : 0);
    }
  }
  /// The number while it rests.
  [[nodiscard]] std::size_t chosen(const cost_function& cost) {
    while (tuner.wants_cost()) play(1, cost);
    return tuner.number();
  }
};

TEST(InFlightTuner, FindsTheCheapestNumber) {
  for (const auto best : in_flight_tuner::candidates) {
    player p;
    p.play(1000, valley(best));
    EXPECT_EQ(p.chosen(valley(best)), best);
  }
}

TEST(InFlightTuner, FollowsAChange) {
  player p;
  p.play(20'000, valley(128));
  p.play(20'000, valley(8));
  EXPECT_EQ(p.chosen(valley(8)), 8u);
}

TEST(InFlightTuner, ADisturbedBatchDoesNotMoveIt) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    random64 draw(seed);
    const auto cost = [&](std::size_t number) {
      return valley(32)(number) * (draw.below(8) == 0 ? 5 : 1);
    };
    player p;
    p.play(20'000, cost);
    EXPECT_EQ(p.chosen(cost), 32u) << "seed " << seed;
  }
}

// Too few tasks for it: the scheduler gives an infinite cost.
TEST(InFlightTuner, ANumberThatCannotBeReachedIsNotChosen) {
  const auto cost = [](std::size_t number) {
    return number > 16 ? std::numeric_limits<double>::infinity() : 10;
  };
  player p;
  p.play(1000, cost);
  EXPECT_LE(p.chosen(cost), 32u);
}

TEST(InFlightTuner, EqualNumbersAreLeftAloneAndMeasuredSeldom) {
  player p;
  p.play(100'000, [](std::size_t) { return 10.0; });
  EXPECT_EQ(p.chosen([](std::size_t) { return 10.0; }),
            in_flight_tuner::candidates[in_flight_tuner::first_choice]);
  EXPECT_LT(p.measured, 1000u);
}

}  // namespace
}  // namespace cairn::task::in_flight_tuner_test
