// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>

#include <support/schedules.hpp>

#include "algo/width_choice.hpp"

namespace cairn::algo::width_choice_schedules_test {
namespace {

enum class fault { none, never_goes_back, never_settles, overlooks_waste, fears_waste, any_search };

/// The choice with a fault.
class faulty_choice {
 public:
  explicit faulty_choice(fault f) : fault_(f) {}
  [[nodiscard]] double factor() const { return choice_.factor(); }
  void report(std::uint64_t relaxations, std::uint64_t wasted) {
    if (fault_ == fault::never_goes_back) wasted = std::min(wasted, relaxations / 32);
    if (fault_ == fault::never_settles && !choice_.learns_from(relaxations)) choice_ = {};
    if (fault_ == fault::overlooks_waste) wasted /= 4;
    if (fault_ == fault::fears_waste) wasted *= 4;
    const std::uint64_t times = fault_ == fault::any_search ? 10'000 : 1;
    choice_.report(times * relaxations, times * wasted);
  }

 private:
  const fault fault_;
  width_choice choice_;
};

enum class ending { correct, leaps, wastes_much, too_narrow, restless };

/// Plays one schedule: the seed decides which share of relaxations searches waste by the width of
/// their buckets, by how much it differs from search to search, and how long the searches are. In
/// short ones it is any.
///
/// correct if the width at most doubles or halves after a search, and stays the same after six long
/// ones. Then it is the first one or does not waste much; and it does not waste little, unless the
/// next wider one wastes much or there is none.
ending play(std::uint64_t seed, fault f) {
  random64 random(seed);
  faulty_choice choice(f);
  constexpr double little = 0.015, much = 0.04, differ = 0.1;
  std::array<double, 5> share{support::log_uniform(random, 1e-4, 0.2)};
  for (std::size_t i = 1; i < share.size(); ++i) {
    share[i] = std::min(0.9, share[i - 1] * support::log_uniform(random, 1, 6));
  }
  std::uint64_t long_ones = 0;
  std::size_t level = 0;
  for (auto searches = 20; searches-- > 0 || long_ones < 12;) {
    const auto relaxations = static_cast<std::uint64_t>(support::log_uniform(random, 100, 1e7));
    const bool is_long = relaxations >= 10'000;
    const auto wasted =
        is_long ? share[level] * (1 + differ * (2 * random.uniform() - 1)) : random.uniform();
    choice.report(relaxations,
                  static_cast<std::uint64_t>(wasted * static_cast<double>(relaxations)));
    const auto before = std::exchange(level, static_cast<std::size_t>(std::ilogb(choice.factor())));
    if (level > before + 1 || before > level + 1) return ending::leaps;
    if (level != before && (!is_long || long_ones >= 6)) return ending::restless;
    long_ones += is_long;
  }
  if (level > 0 && share[level] > much / (1 - differ)) return ending::wastes_much;
  const bool widest = level + 1 == share.size();
  if (!widest && share[level] < little / (1 + differ) && share[level + 1] < much / (1 + differ)) {
    return ending::too_narrow;
  }
  return ending::correct;
}

std::uint64_t caught(fault f) {
  return support::num_caught(
      ending::correct, [f](std::uint64_t seed) { return play(seed, f); },
      support::num_twin_schedules / 5);
}
constexpr auto many = support::num_twin_schedules / 5 / 50;

TEST(WidthChoice, EverySchedule) {
  support::expect_every_schedule(ending::correct,
                                 [](std::uint64_t seed) { return play(seed, fault::none); });
}

TEST(WidthChoiceTwin, ThatNeverGoesBackIsCaught) {
  EXPECT_GT(caught(fault::never_goes_back), many);
}
TEST(WidthChoiceTwin, ThatNeverSettlesIsCaught) { EXPECT_GT(caught(fault::never_settles), many); }
TEST(WidthChoiceTwin, ThatOverlooksWasteIsCaught) {
  EXPECT_GT(caught(fault::overlooks_waste), many);
}
TEST(WidthChoiceTwin, ThatFearsWasteIsCaught) { EXPECT_GT(caught(fault::fears_waste), many); }
TEST(WidthChoiceTwin, ThatLearnsFromAnySearchIsCaught) {
  EXPECT_GT(caught(fault::any_search), many);
}

}  // namespace
}  // namespace cairn::algo::width_choice_schedules_test
