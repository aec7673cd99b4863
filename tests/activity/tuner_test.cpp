// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/tuner.hpp>
#include <cairn/base/error.hpp>
#include <cairn/base/random.hpp>

#include <support/schedules.hpp>

namespace cairn::activity::tuner_test {
namespace {

using support::num_schedules;
using support::num_twin_schedules;
constexpr int spans_of_phase = 1500, num_phases = 2;

/// What operators cost for a while: an atomic instruction each, or a share of what a transaction
/// costs, and with longer ones more aborts.
struct phase {
  double atomics, each, section, abort;

  [[nodiscard]] double cost(const choice& by) const {
    if (by.mechanism == mechanism::atomics) return atomics;
    const auto m = static_cast<double>(by.grain);
    return each + section / m + abort * m;
  }
  [[nodiscard]] double aborts(const choice& by) const {
    return by.mechanism == mechanism::atomics ? 0 : abort * static_cast<double>(by.grain) / each;
  }
};

/// What came of schedules: how many broke a promise.
struct tally {
  std::uint64_t schedules = 0;
  std::uint64_t outside = 0;   ///< asked for a way that there is not
  std::uint64_t lossy = 0;     ///< in a phase took much more time than without any trial
  std::uint64_t far = 0;       ///< at a phase's end ran by a way much dearer than the best one
  std::uint64_t restless = 0;  ///< often left the way that it had found
  double worst_lost = 0;       ///< share of all time, as the tuner itself counts it

  [[nodiscard]] double share(std::uint64_t of) const {
    return static_cast<double>(of) / static_cast<double>(schedules);
  }
};

/// As it is.
struct sound {
  static constexpr tuner_rules rules{};
  [[nodiscard]] static bool listens(int) { return true; }
};
/// The twins. One believes the first pair of spans,
struct follows_noise : sound {
  static constexpr tuner_rules rules{.gain = 0, .pairs = 1, .wins = 1};
};
/// one tries whatever it costs,
struct tries_without_bound : sound {
  static constexpr tuner_rules rules{.share = 1e9, .first_wait = 0, .longest_wait = 0};
};
/// and one has made up its mind at the end of the first phase.
struct never_forgets : sound {
  [[nodiscard]] static bool listens(int spans) { return spans < spans_of_phase; }
};

/// Two phases, each with its costs; spans of many lengths, whose times are disturbed, now and
/// then a lot. The seed decides all of it.
template <class Rules>
class schedule {
 public:
  explicit schedule(std::uint64_t seed) : random_(seed) {
    spread_ = 0.3 * random_.uniform();
    min_ = 1 + random_.below(64);
    max_ = min_ + 500 + random_.below(2000);  // a phase takes longer than a millisecond
    const candidate atomics{{mechanism::atomics, 1}}, htm{{mechanism::htm, 64}, true};
    const std::vector<candidate> all[] = {{atomics, htm}, {htm, atomics}, {htm}};
    candidates_ = all[random_.below(3)];
  }

  void play(tally& sum) {
    tuner t(candidates_, Rules::rules);
    bool outside = false, lossy = false, far = false;
    std::uint64_t late_changes = 0;
    int spans = 0;
    for (int phases = 0; phases < num_phases; ++phases) {
      const auto costs = draw_phase();
      const auto before = t.best();
      double spent = 0, stayed = 0;
      std::uint64_t changes = 0;
      for (int i = 0; i < spans_of_phase; ++i) {
        if (i == spans_of_phase / 2) changes = t.changes();
        const bool listens = Rules::listens(spans++);
        const auto by = listens ? t.next() : tuner::step{t.best(), false};
        outside = outside || !known(by.choice);
        const auto n = min_ + random_.below(max_ - min_ + 1);
        const auto operators = static_cast<double>(n);
        spent += operators * costs.cost(by.choice);
        stayed += operators * costs.cost(before);
        if (!listens) continue;
        t.done({n, by.measured ? time_of(operators * costs.cost(by.choice)) : 12345,
                static_cast<std::uint64_t>(operators * costs.aborts(by.choice))});
      }
      late_changes += t.changes() - changes;
      lossy = lossy || spent > 1.15 * stayed;
      far = far || costs.cost(t.best()) > 1.2 * best_of(costs);
    }
    ++sum.schedules;
    sum.outside += outside;
    sum.lossy += lossy;
    sum.far += far;
    sum.restless += late_changes > 2;
    sum.worst_lost = std::max(sum.worst_lost, t.lost_share());
  }

 private:
  double power(double min, double max) { return min * std::pow(max / min, random_.uniform()); }
  phase draw_phase() { return {power(3, 12), power(1.5, 6), power(10, 80), power(0.001, 1)}; }
  [[nodiscard]] bool known(const choice& by) const {
    return std::any_of(candidates_.begin(), candidates_.end(), [&](const candidate& c) {
      if (c.start.mechanism != by.mechanism) return false;
      return c.grain_is_free ? by.grain >= 1 && by.grain <= max_grain : by == c.start;
    });
  }
  [[nodiscard]] double best_of(const phase& costs) const {
    double best = costs.cost(candidates_[0].start);
    for (const auto& c : candidates_) {
      for (std::size_t m = 1; m <= (c.grain_is_free ? max_grain : 1); m *= 2) {
        best = std::min(best, costs.cost({c.start.mechanism, m}));
      }
    }
    return best;
  }
  std::uint64_t time_of(double ns) {
    const double noise = 1 + spread_ * (random_.uniform() + random_.uniform() - 1);
    const double pause = random_.below(200) == 0 ? 20 : 1;
    return static_cast<std::uint64_t>(std::max(1.0, ns * noise * pause));
  }

  random64 random_;
  double spread_;
  std::uint64_t min_, max_;
  std::vector<candidate> candidates_;
};

template <class Rules>
tally play_all(std::uint64_t number) {
  tally sum;
  for (std::uint64_t seed = 0; seed < number; ++seed) schedule<Rules>(seed).play(sum);
  return sum;
}

TEST(TunerSchedules, ComeNearTheBestAndLoseLittleOnTheWay) {
  const auto all = play_all<sound>(num_schedules);
  EXPECT_EQ(all.outside, 0u);
  EXPECT_LT(all.share(all.lossy), 0.005);
  EXPECT_LT(all.share(all.far), 0.01);
  EXPECT_LT(all.share(all.restless), 0.01);
  EXPECT_LT(all.worst_lost, 0.06);
}

TEST(TunerSchedules, CatchATunerThatFollowsNoise) {
  const auto all = play_all<follows_noise>(num_twin_schedules / 5);
  EXPECT_GT(all.share(all.restless), 0.1);
}

TEST(TunerSchedules, CatchATunerThatTriesWithoutBound) {
  const auto all = play_all<tries_without_bound>(num_twin_schedules / 5);
  EXPECT_GT(all.share(all.lossy), 0.1);
}

TEST(TunerSchedules, CatchATunerThatNeverForgets) {
  const auto all = play_all<never_forgets>(num_twin_schedules / 5);
  EXPECT_GT(all.share(all.far), 0.1);
}

TEST(Tuner, TriesNothingInARunOfUnderAMillisecond) {
  const candidate candidates[] = {{{mechanism::atomics, 1}}, {{mechanism::htm, 64}, true}};
  tuner t(candidates);
  std::uint64_t passed = 0;
  for (; passed < 990'000; passed += 1000) {
    ASSERT_EQ(t.next().choice, candidates[0].start);
    t.done({100, 1000, 0});
  }
  bool tried = false;
  for (int i = 0; i < 1000; ++i) {
    tried = tried || t.next().choice != candidates[0].start;
    t.done({100, 1000, 0});
  }
  EXPECT_TRUE(tried);
}

TEST(Tuner, StaysWhereItIsWhileTheClockStandsStill) {
  const candidate candidates[] = {{{mechanism::atomics, 1}}, {{mechanism::htm, 64}, true}};
  tuner t(candidates);
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_EQ(t.next().choice, candidates[0].start);
    t.done({100, 0, 0});
  }
}

TEST(Tuner, MeasuresFewSpansWhileItWaits) {
  const candidate candidates[] = {{{mechanism::atomics, 1}}};
  tuner t(candidates);
  int measured = 0;
  for (int i = 0; i < 1600; ++i) {
    measured += t.next().measured;
    t.done({100, 1000, 0});
  }
  EXPECT_LE(measured, 100);
  EXPECT_EQ(t.trials(), 0u);
}

TEST(Tuner, TriesShorterTransactionsFirstWhereTheyAbort) {
  for (const bool aborts : {false, true}) {
    const candidate candidates[] = {{{mechanism::htm, 64}, true}};
    tuner t(candidates);
    while (t.next().choice == candidates[0].start) t.done({1000, 5000, aborts ? 100u : 0u});
    EXPECT_EQ(t.next().choice.grain, aborts ? 32u : 128u);
  }
}

TEST(Tuner, GoesOnFromWhereItIsMovedTo) {
  const candidate candidates[] = {{{mechanism::locks, 1}}, {{mechanism::stm, 1}}};
  tuner t(candidates);
  t.done({100, 1000, 0});
  t.move_to(1);
  EXPECT_EQ(t.best(), candidates[1].start);
  EXPECT_EQ(t.next().choice, candidates[1].start);
}

TEST(Tuner, RefusesWhatMakesNoSense) {
  const candidate too_long{{mechanism::htm, max_grain + 1}, true}, good{{mechanism::htm, 1}};
  EXPECT_THROW(tuner({&too_long, 1}), contract_violation);
  EXPECT_THROW(tuner({&good, 0}), contract_violation);
  EXPECT_THROW(tuner({&good, 1}, {.pairs = 2, .wins = 3}), contract_violation);
}

}  // namespace
}  // namespace cairn::activity::tuner_test
