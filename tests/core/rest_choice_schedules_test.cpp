// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/rest_choice.hpp>

#include <support/schedules.hpp>

namespace cairn::rest_choice_schedules_test {
namespace {

enum class fault { none, never_forgets, looks_far_back, looks_back_shortly, never_acts };

/// The choice with a fault. If polls and time are scaled, the window has another length.
class faulty_choice {
 public:
  explicit faulty_choice(fault f) : fault_(f) {}
  [[nodiscard]] bool rests(std::uint64_t polls, std::uint64_t now_ns) {
    if (fault_ == fault::never_acts) return true;
    if (fault_ == fault::never_forgets) choice_ = {};
    if (fault_ == fault::looks_far_back) return choice_.rests(polls / 8, now_ns / 8);
    if (fault_ == fault::looks_back_shortly) return choice_.rests(32 * polls, 32 * now_ns);
    return choice_.rests(polls, now_ns);
  }

 private:
  const fault fault_;
  rest_choice choice_;
};

enum class ending { correct, acts_beside_frequent_polls, rests_beside_rare_polls };

/// Plays one schedule of a few phases: the seed decides how often workers poll in each, in bursts
/// of how many polls, and when the thread looks. It sleeps for a window while it rests.
///
/// correct if the thread rests if and only if the mean time between polls is below the bound, after
/// four windows of each phase: a window ends up to a window late, and one has begun before.
ending play(std::uint64_t seed, fault f) {
  random64 random(seed);
  faulty_choice choice(f);
  constexpr auto window = rest_choice::window_ns;
  constexpr double bound = rest_choice::rarely_ns;
  const auto longest_look = static_cast<std::uint64_t>(support::log_uniform(random, 1e4, window));
  std::uint64_t now = random.below(1'000'000'000'000), polls = random.below(1'000'000);
  bool rests = false;
  for (auto phases = 1 + random.below(4); phases-- > 0;) {
    // In no window a burst more or less makes a difference.
    const bool often = random.below(2) == 0;
    const auto gap = often ? support::log_uniform(random, 0.02 * bound, 0.85 * bound)
                           : support::log_uniform(random, 1.2 * bound, 200 * bound);
    const auto burst = 1 + random.below(4);
    const auto begin = now, before = polls;
    while (now < begin + 8 * window) {
      now += rests ? window : 1 + random.below(longest_look);
      const auto bursts = static_cast<double>(now - begin) / (gap * static_cast<double>(burst));
      polls = before + burst * static_cast<std::uint64_t>(bursts);
      rests = choice.rests(polls, now);
      if (now - begin < 4 * window || rests == often) continue;
      return rests ? ending::rests_beside_rare_polls : ending::acts_beside_frequent_polls;
    }
  }
  return ending::correct;
}

std::uint64_t caught(fault f) {
  return support::num_caught(ending::correct, [f](std::uint64_t seed) { return play(seed, f); });
}
constexpr auto many = support::num_twin_schedules / 20;

TEST(RestChoice, EverySchedule) {
  support::expect_every_schedule(ending::correct,
                                 [](std::uint64_t seed) { return play(seed, fault::none); });
}

TEST(RestChoiceTwin, ThatNeverForgetsIsCaught) { EXPECT_GT(caught(fault::never_forgets), many); }
TEST(RestChoiceTwin, ThatLooksFarBackIsCaught) { EXPECT_GT(caught(fault::looks_far_back), many); }
TEST(RestChoiceTwin, ThatLooksBackShortlyIsCaught) {
  EXPECT_GT(caught(fault::looks_back_shortly), many);
}
TEST(RestChoiceTwin, ThatNeverActsIsCaught) { EXPECT_GT(caught(fault::never_acts), many); }

}  // namespace
}  // namespace cairn::rest_choice_schedules_test
