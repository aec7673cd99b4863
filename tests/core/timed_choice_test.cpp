// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/timed_choice.hpp>

namespace cairn {
namespace {

struct counted {
  int shared = 0, alone = 0;
};

// Runs of one kind that take these times, each up to a quarter longer at random.
counted run(timed_choice& choice, std::uint64_t kind, int runs, double shared_ns, double alone_ns,
            bool guess = true) {
  random64 random(kind);
  counted of;
  for (int i = 0; i < runs; ++i) {
    const bool shared = choice.next(kind, guess);
    ++(shared ? of.shared : of.alone);
    const auto noise = 1 + 0.25 * static_cast<double>(random.below(1000)) / 1000;
    choice.took(shared, noise * (shared ? shared_ns : alone_ns));
  }
  return of;
}

TEST(TimedChoice, GoesByTheGuessTriesTheOtherWayThenTakesTheFaster) {
  for (const bool guess : {true, false}) {
    timed_choice choice;
    const auto first = run(choice, 1, 6, 100, 300, guess);
    EXPECT_EQ(first.shared, 3);
    EXPECT_EQ(run(choice, 1, 7, 100, 300).alone, 0);
    timed_choice other;
    static_cast<void>(run(other, 1, 6, 300, 100, guess));
    EXPECT_EQ(run(other, 1, 7, 300, 100).shared, 0);
  }
}

TEST(TimedChoice, TriesTheOtherWayTwiceInARow) {
  timed_choice choice;
  static_cast<void>(run(choice, 1, 13, 100, 300));
  EXPECT_EQ(run(choice, 1, 2, 100, 300).alone, 2);
  EXPECT_EQ(run(choice, 1, 15, 100, 300).alone, 0);
}

TEST(TimedChoice, ASlowFirstTryDoesNotCount) {
  timed_choice choice;
  for (int i = 0; i < 20; ++i) {
    const bool shared = choice.next(1, false);
    const bool cold = shared && i == 3;
    choice.took(shared, cold ? 500 : shared ? 100 : 200);
    if (i >= 6 && i < 13) {
      EXPECT_TRUE(shared);
    }
  }
}

TEST(TimedChoice, BeginsWithTheGuess) {
  for (const bool guess : {true, false}) {
    timed_choice choice;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(choice.next(7, guess), guess);
  }
}

TEST(TimedChoice, TriesTheOtherWayEverMoreSeldom) {
  timed_choice choice;
  EXPECT_LE(run(choice, 1, 1000, 100, 300).alone, 20);
  EXPECT_LE(run(choice, 1, 10'000, 100, 300).alone, 50);
}

TEST(TimedChoice, ChangesWhenTheTimesChange) {
  timed_choice choice;
  static_cast<void>(run(choice, 1, 100, 100, 300));
  static_cast<void>(run(choice, 1, 200, 900, 300));
  EXPECT_LE(run(choice, 1, 100, 900, 300).shared, 4);
}

TEST(TimedChoice, OneSlowFirstRunDoesNotDecide) {
  timed_choice choice;
  const bool first = choice.next(1, true);
  choice.took(first, 5000);  // cold
  EXPECT_EQ(run(choice, 1, 12, 100, 150).alone, 3);
}

TEST(TimedChoice, AnotherKindBeginsAnew) {
  timed_choice choice;
  static_cast<void>(run(choice, 1, 50, 100, 300));
  EXPECT_EQ(run(choice, 2, 12, 300, 100, false).shared, 3);
}

}  // namespace
}  // namespace cairn
