// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/am/capacity_choice.hpp>
#include <cairn/base/random.hpp>

#include <support/schedules.hpp>

namespace cairn::am::capacity_choice_schedules_test {
namespace {

using saving = capacity_choice::saving;

enum class fault {
  none,
  judges_early,
  never_opens_again,
  pauses_briefly,
  pauses_long,
  never_grows
};

/// The choice with a fault.
class faulty_choice {
 public:
  faulty_choice(fault f, std::size_t max_entries, saving s)
      : fault_(f), choice_(f == fault::never_grows ? capacity_choice::smallest : max_entries, s) {}
  [[nodiscard]] bool open() const { return choice_.open(); }
  [[nodiscard]] std::size_t capacity() const { return choice_.capacity(); }
  [[nodiscard]] bool offered(std::uint64_t n, std::uint64_t entered) {
    const std::uint64_t times = fault_ == fault::judges_early ? 8 : 1;
    choice_.offered(times * n);
    for (std::uint64_t i = 0; i < times * entered; ++i) choice_.entered();
    return choice_.changes();
  }
  void bypassed(std::uint64_t n) {
    if (fault_ == fault::never_opens_again) return;
    if (fault_ == fault::pauses_briefly) n *= 8;
    if (fault_ == fault::pauses_long) n /= 8;
    choice_.bypassed(n);
  }

 private:
  const fault fault_;
  capacity_choice choice_;
};

/// What a look-up costs, relative to what a merged message saves.
double look_up(saving of_a_merge) { return of_a_merge == saving::small ? 3.0 / 4 : 1.0 / 4; }

/// A phase of a stream: some messages have keys of their own, the others equally often one of
/// `keys`.
struct phase {
  double unique, keys;

  /// The share of messages that merge in a table, after it was offered `before` of them.
  [[nodiscard]] double merged(double entries, double before) const {
    const auto load = keys / entries;
    // A message evicts that in its place, if their keys differ.
    const auto in_a_full_table = -std::expm1(-load) / load;
    return (1 - unique) * in_a_full_table * -std::expm1(-before / std::min(keys, entries));
  }
  /// What n messages cost in a table, which is empty at first.
  [[nodiscard]] double cost(double n, double entries, saving s) const {
    return n * (look_up(s) + 1 - merged(entries, n)) + std::min({n, entries, keys});
  }
};

enum class ending { correct, short_pause, long_pause, closed_in_vain, dear };

/// Plays one schedule: the seed decides the largest table, what a merge saves, how many messages
/// are offered at once, and the phases of a stream.
///
/// correct if the first phase costs little more than in the best of all tables or in none, and if
/// pauses are long enough and end, and no table closes in vain: see judge_pause, judge_closing.
class player {
 public:
  player(std::uint64_t seed, fault f)
      : random_(seed),
        max_(std::size_t{1} << (10 + random_.below(4))),
        saving_(random_.below(2) == 0 ? saving::small : saving::large),
        batch_(64 + random_.below(1024)),
        choice_(f, max_, saving_) {}

  ending play() {
    auto of = draw();
    const auto n = support::log_uniform(random_, 1 << 17, 1 << 19);
    double cost = 0;
    while (static_cast<double>(all_) < n) cost += step(of);
    auto least = static_cast<double>(all_);  // if all bypass
    for (std::size_t entries = capacity_choice::smallest; entries <= max_; entries *= 2) {
      least = std::min(least,
                       of.cost(static_cast<double>(all_), static_cast<double>(entries), saving_));
    }
    // A larger table may merge 1/32 more; and each is tried.
    if (cost > 1.05 * least + n / 32 + 11 * static_cast<double>(max_)) return ending::dear;
    for (auto phases = 1 + random_.below(3); phases > 0 && ending_ == ending::correct; --phases) {
      of = draw();
      offered_in_phase_ = 0;
      for (int steps = 0; ending_ == ending::correct && (steps < 200 || !choice_.open()); ++steps) {
        static_cast<void>(step(of));
      }
    }
    return ending_;
  }

 private:
  phase draw() {
    const auto kind = random_.below(4);
    const auto unique = kind == 0 ? 1 : kind == 1 ? random_.uniform() : 0;
    return {unique, support::log_uniform(random_, 10, 1e6)};
  }

  // A few messages; returns their cost.
  double step(const phase& of) {
    const auto n = 1 + random_.below(choice_.open() ? batch_ : 32 * batch_);
    const auto messages = static_cast<double>(n);
    all_ += n;
    if (!choice_.open()) {
      bypassed_ += n;
      choice_.bypassed(n);
      judge_pause(n);
      return messages;
    }
    const auto entries = static_cast<double>(choice_.capacity());
    const auto merged = of.merged(entries, in_table_ + messages / 2);
    const auto entered = static_cast<std::uint64_t>(messages * (1 - merged) + random_.uniform());
    attempt_ += n;
    in_table_ += messages;
    offered_in_phase_ += messages;
    all_unique_ = all_unique_ && of.unique == 1;
    if (choice_.offered(n, std::min(n, entered))) in_table_ = 0;
    if (!choice_.open()) judge_closing(of, entries);
    return messages * look_up(saving_) + static_cast<double>(entered);
  }

  // A pause is at least 64 times as long as the attempt in which nothing merged. It is no longer
  // than that, or than twice as long as all before, up to a bound. Of the last n messages some may
  // have come after the pause.
  void judge_pause(std::uint64_t n) {
    const auto of_attempt = 64 * attempt_;
    const auto doubled = std::min(2 * (all_ - bypassed_), capacity_choice::longest_pause);
    if (bypassed_ > std::max(of_attempt, doubled) + n) ending_ = ending::long_pause;
    if (!choice_.open()) return;
    if (all_unique_ && bypassed_ < of_attempt) ending_ = ending::short_pause;
    attempt_ = bypassed_ = 0;
    all_unique_ = true;
  }
  // A table closes if no table could merge enough, except if some of the messages of which that is
  // concluded belong to an earlier phase.
  void judge_closing(const phase& of, double entries) {
    const bool pays = of.merged(static_cast<double>(max_), 1e9) > look_up(saving_) + 0.05;
    if (pays && offered_in_phase_ > 17 * entries) ending_ = ending::closed_in_vain;
  }

  random64 random_;
  std::size_t max_;
  saving saving_;
  std::uint64_t batch_;
  faulty_choice choice_;
  std::uint64_t all_ = 0, attempt_ = 0, bypassed_ = 0;  // messages
  double in_table_ = 0, offered_in_phase_ = 0;
  bool all_unique_ = true;  // those of the attempt
  ending ending_ = ending::correct;
};

ending play(std::uint64_t seed, fault f) { return player(seed, f).play(); }

std::uint64_t caught(fault f) {
  return support::num_caught(
      ending::correct, [f](std::uint64_t seed) { return play(seed, f); },
      support::num_twin_schedules / 25);
}
constexpr auto many = support::num_twin_schedules / 25 / 100;

TEST(CapacityChoice, EverySchedule) {
  support::expect_every_schedule(
      ending::correct, [](std::uint64_t seed) { return play(seed, fault::none); },
      support::num_schedules / 5);
}

TEST(CapacityChoiceTwin, ThatJudgesEarlyIsCaught) { EXPECT_GT(caught(fault::judges_early), many); }
TEST(CapacityChoiceTwin, ThatNeverOpensAgainIsCaught) {
  EXPECT_GT(caught(fault::never_opens_again), many);
}
TEST(CapacityChoiceTwin, ThatPausesBrieflyIsCaught) {
  EXPECT_GT(caught(fault::pauses_briefly), many);
}
TEST(CapacityChoiceTwin, ThatPausesLongIsCaught) { EXPECT_GT(caught(fault::pauses_long), many); }
TEST(CapacityChoiceTwin, ThatNeverGrowsIsCaught) { EXPECT_GT(caught(fault::never_grows), many); }

}  // namespace
}  // namespace cairn::am::capacity_choice_schedules_test
