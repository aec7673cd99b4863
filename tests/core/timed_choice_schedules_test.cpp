// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/timed_choice.hpp>

#include <support/schedules.hpp>

namespace cairn::timed_choice_schedules_test {
namespace {

enum class fault {
  none,
  never_tries_again,
  begins_anew,
  believes_slow_runs,
  remembers_the_fastest
};

/// The choice with a fault.
class faulty_choice {
 public:
  faulty_choice(fault f, std::size_t num_ways) : fault_(f), num_ways_(num_ways) {}
  [[nodiscard]] std::size_t next() {
    return at_ = static_cast<std::size_t>(choice_.next(kind_, std::span(ways).first(num_ways_)));
  }
  void took(double ns) {
    ++runs_;
    fastest_[at_] = fastest_[at_] == 0 ? ns : std::min(fastest_[at_], ns);
    if (fault_ == fault::never_tries_again && runs_ > 1 + 3 * num_ways_) return;
    if (fault_ == fault::begins_anew && runs_ % 40 == 0) ++kind_;
    if (fault_ == fault::believes_slow_runs) ns += 1e9;  // relative to that, no run is slow
    choice_.took(fault_ == fault::remembers_the_fastest ? fastest_[at_] : ns);
  }

 private:
  static constexpr std::array ways{0, 1, 2};
  const fault fault_;
  const std::size_t num_ways_;
  timed_choice choice_;
  std::size_t at_ = 0;
  std::uint64_t kind_ = 1, runs_ = 0;
  std::array<double, 3> fastest_{};
};

enum class ending { correct, late, changed_late };

/// Plays one schedule: the seed decides the time that each way takes, whether these times change
/// after a while, and which runs are disturbed. The first run after one in another way takes twice
/// its time.
///
/// correct if in the second half of the runs between changes at most 15 % took more than 1.3 times
/// the time of the fastest way. All tries of other ways are among them. In the first half of those
/// after a change, each way is tried.
ending play(std::uint64_t seed, fault f) {
  random64 random(seed);
  const auto num_ways = 2 + random.below(2);
  faulty_choice choice(f, num_ways);
  const auto disturbed = 20 + random.below(80);  // one run in so many
  const auto slowdown = support::log_uniform(random, 2, 50);
  const auto spread = 0.1 * random.uniform();
  const auto first_runs = 120 + random.below(100);
  std::size_t before = 0;
  const auto ends_well = [&](std::uint64_t runs) {
    std::array<double, 3> ns{};
    for (auto& x : ns) x = support::log_uniform(random, 100, 1000);
    const auto best = *std::min_element(ns.begin(), ns.begin() + num_ways);
    std::uint64_t slow = 0;
    for (std::uint64_t i = 0; i < runs; ++i) {
      const auto way = choice.next();
      slow += 2 * i >= runs && ns[way] > 1.3 * best;
      const auto cold = std::exchange(before, way) == way ? 1 : 2;
      const auto slower = random.below(disturbed) == 0 ? slowdown : 1;
      choice.took(ns[way] * (1 + spread * random.uniform()) * cold * slower);
    }
    return static_cast<double>(slow) <= 0.15 * static_cast<double>(runs) / 2;
  };
  if (!ends_well(first_runs)) return ending::late;
  return random.below(3) != 0 || ends_well(7 * first_runs) ? ending::correct : ending::changed_late;
}

std::uint64_t caught(fault f, std::uint64_t schedules = support::num_twin_schedules / 5) {
  return support::num_caught(
      ending::correct, [f](std::uint64_t seed) { return play(seed, f); }, schedules);
}
constexpr auto many = support::num_twin_schedules / 5 / 20;

// Both runs of a try may be disturbed, so a few schedules end badly.
TEST(TimedChoice, EverySchedule) {
  EXPECT_LT(caught(fault::none, support::num_schedules), support::num_schedules / 500);
}

TEST(TimedChoiceTwin, ThatNeverTriesAgainIsCaught) {
  EXPECT_GT(caught(fault::never_tries_again), many);
}
TEST(TimedChoiceTwin, ThatOftenBeginsAnewIsCaught) { EXPECT_GT(caught(fault::begins_anew), many); }
TEST(TimedChoiceTwin, ThatBelievesSlowRunsIsCaught) {
  EXPECT_GT(caught(fault::believes_slow_runs), many);
}
TEST(TimedChoiceTwin, ThatRemembersTheFastestRunIsCaught) {
  EXPECT_GT(caught(fault::remembers_the_fastest), many);
}

}  // namespace
}  // namespace cairn::timed_choice_schedules_test
