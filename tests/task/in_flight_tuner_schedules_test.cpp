// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/task/in_flight_tuner.hpp>

#include <support/schedules.hpp>

namespace cairn::task::in_flight_tuner_schedules_test {
namespace {

constexpr auto& numbers = in_flight_tuner::candidates;

enum class fault { none, measures_at_once, never_again, never_rests, prefers_the_expensive };

/// The tuner with a fault.
class faulty_tuner {
 public:
  explicit faulty_tuner(fault f) : fault_(f) {}
  [[nodiscard]] std::size_t number() const { return tuner_.number(); }
  [[nodiscard]] bool wants_cost() const { return tuner_.wants_cost(); }
  void took(double cost) {
    if (fault_ == fault::never_again && !tuner_.wants_cost() && moves_ > 0) return;
    moves_ += tuner_.wants_cost();
    const auto before = tuner_.number();
    tuner_.took(fault_ == fault::prefers_the_expensive ? 1 / cost : cost);
    if (fault_ == fault::measures_at_once && tuner_.number() != before) tuner_.took(cost);
    while (fault_ == fault::never_rests && !tuner_.wants_cost()) tuner_.took(0);
  }

 private:
  fault fault_;
  in_flight_tuner tuner_;
  std::uint64_t moves_ = 0;
};

/// What resumptions cost with each number in flight: one valley, in which the slopes are steeper
/// than what the tuner overlooks.
class valley {
 public:
  explicit valley(random64& random) {
    const auto best = random.below(numbers.size());
    cost_.fill(10);
    for (auto i = best; i-- > 0;) cost_[i] = cost_[i + 1] * steeper(random);
    for (auto i = best + 1; i < cost_.size(); ++i) cost_[i] = cost_[i - 1] * steeper(random);
  }
  [[nodiscard]] double operator()(std::size_t number) const {
    const auto* const at = std::ranges::find(numbers, number);
    return cost_[static_cast<std::size_t>(at - numbers.begin())];
  }

 private:
  static double steeper(random64& random) {
    return 1.05 + 0.1 * static_cast<double>(random.below(8));
  }
  std::array<double, numbers.size()> cost_{};
};

enum class ending { correct, not_the_cheapest, measures_much };

/// Plays one schedule: the seed decides the costs before and after a change, and which batches are
/// disturbed. A batch after a change of the number costs as with the number before.
///
/// correct if the cheapest number is in use at the end, but at few turns and for the batches of a
/// last round, and if few batches were measured.
ending play(std::uint64_t seed, fault f) {
  random64 random(seed);
  faulty_tuner tuner(f);
  constexpr std::uint64_t each = 12'000;
  std::uint64_t measured = 0, cheapest = 0;
  for (const auto& cost : {valley(random), valley(random)}) {
    const auto disturbed = 4 + random.below(60);  // one batch in so many
    auto in_flight = tuner.number();
    for (std::uint64_t batch = 0; batch < each; ++batch) {
      const auto number = tuner.number();
      const auto paid = cost(in_flight) * (random.below(disturbed) == 0 ? 3 : 1);
      in_flight = number;
      measured += tuner.wants_cost();
      const bool late = batch >= each - 1000;
      cheapest += late && cost(number) == 10;
      tuner.took(paid);
    }
    if (cheapest < 900) return ending::not_the_cheapest;
    cheapest = 0;
  }
  return measured < each / 10 ? ending::correct : ending::measures_much;
}

std::uint64_t caught(fault f) {
  return support::num_caught(
      ending::correct, [f](std::uint64_t seed) { return play(seed, f); },
      support::num_twin_schedules / 25);
}
constexpr auto many = support::num_twin_schedules / 25 / 100;

TEST(InFlightTuner, EverySchedule) {
  support::expect_every_schedule(
      ending::correct, [](std::uint64_t seed) { return play(seed, fault::none); },
      support::num_schedules / 25);
}

TEST(InFlightTunerTwin, ThatMeasuresAtOnceIsCaught) {
  EXPECT_GT(caught(fault::measures_at_once), many);
}
TEST(InFlightTunerTwin, ThatNeverMeasuresAgainIsCaught) {
  EXPECT_GT(caught(fault::never_again), many);
}
TEST(InFlightTunerTwin, ThatNeverRestsIsCaught) { EXPECT_GT(caught(fault::never_rests), many); }
TEST(InFlightTunerTwin, ThatPrefersTheExpensiveIsCaught) {
  EXPECT_GT(caught(fault::prefers_the_expensive), many);
}

}  // namespace
}  // namespace cairn::task::in_flight_tuner_schedules_test
