// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>
#include <cairn/core/timed_choice.hpp>

namespace cairn::timed_choice_test {
namespace {

using times = std::map<int, double>;  // by way

// The ways of runs of one kind, a letter each; a run takes up to a quarter longer at random.
std::string run(timed_choice& choice, std::uint64_t kind, int runs, const std::vector<int>& ways,
                const times& ns) {
  random64 random(kind);
  std::string all;
  for (int i = 0; i < runs; ++i) {
    const int way = choice.next(kind, ways);
    all += static_cast<char>('a' + way);
    choice.took(ns.at(way) * (1 + 0.25 * static_cast<double>(random.below(1000)) / 1000));
  }
  return all;
}

TEST(TimedChoice, TriesAllWaysThenTakesTheFastest) {
  const times ns{{0, 300}, {1, 100}, {2, 200}};
  for (const auto& [ways, expected] : std::map<std::vector<int>, std::string>{
           {{0}, "aaaaaaaaaaaa"},
           {{0, 1}, "aaaabbbbbbbb"},
           {{1, 0}, "bbbbaaabbbbb"},
           {{2, 0}, "ccccaaaccccc"},
           {{0, 1, 2}, "aaaabbbcccbb"},
           {{2, 0, 1}, "ccccaaabbbbb"},
       }) {
    timed_choice choice;
    EXPECT_EQ(run(choice, 1, 12, ways, ns), expected);
  }
}

TEST(TimedChoice, TriesTheOthersInTurnTwiceInARow) {
  const times ns{{0, 100}, {1, 300}, {2, 300}};
  timed_choice two, three;
  EXPECT_EQ(run(two, 1, 35, {0, 1}, ns),
            "aaaabbb" + std::string(8, 'a') + "bb" + std::string(16, 'a') + "bb");
  EXPECT_EQ(run(three, 1, 38, {0, 1, 2}, ns),
            "aaaabbbccc" + std::string(8, 'a') + "bb" + std::string(16, 'a') + "cc");
}

TEST(TimedChoice, TriesTheOthersEverMoreSeldom) {
  const times ns{{0, 100}, {1, 300}};
  timed_choice choice;
  const auto tries = [&](int runs) {
    const auto all = run(choice, 1, runs, {0, 1}, ns);
    return std::count(all.begin(), all.end(), 'b');
  };
  const auto first = tries(1000);
  EXPECT_GE(first, 9);
  EXPECT_LE(first, 20);
  EXPECT_LE(tries(10'000), 50);
}

TEST(TimedChoice, ASlowFirstRunDoesNotCount) {
  for (const int cold : {0, 4}) {
    timed_choice choice;
    for (int i = 0; i < 15; ++i) {
      const int way = choice.next(1, std::vector{0, 1});
      if (i >= 7) {
        EXPECT_EQ(way, cold == 0 ? 0 : 1);
      }
      choice.took(i == cold ? 5000 : way == (cold == 0 ? 0 : 1) ? 100 : 200);
    }
  }
}

TEST(TimedChoice, OneSlowRunDoesNotChangeTheWay) {
  const times ns{{0, 100}, {1, 150}};
  timed_choice choice;
  static_cast<void>(run(choice, 1, 10, {0, 1}, ns));
  EXPECT_EQ(run(choice, 1, 1, {0, 1}, {{0, 5000}, {1, 5000}}), "a");
  EXPECT_EQ(run(choice, 1, 4, {0, 1}, ns), "aaaa");
}

TEST(TimedChoice, RunsWithoutAReportDoNotCount) {
  const times ns{{0, 100}, {1, 300}};
  timed_choice choice;
  for (int i = 0; i < 50; ++i) EXPECT_EQ(choice.next(1, std::vector{0, 1}), 0);
  EXPECT_EQ(run(choice, 1, 4, {0, 1}, ns), "aaaa");
  for (int i = 0; i < 50; ++i) EXPECT_EQ(choice.next(1, std::vector{0, 1}), 1);
  EXPECT_EQ(run(choice, 1, 4, {0, 1}, ns), "bbba");
}

TEST(TimedChoice, ChangesWhenTheTimesChange) {
  timed_choice choice;
  static_cast<void>(run(choice, 1, 100, {0, 1}, {{0, 100}, {1, 300}}));
  const times later{{0, 900}, {1, 300}};
  static_cast<void>(run(choice, 1, 200, {0, 1}, later));
  const auto all = run(choice, 1, 100, {0, 1}, later);
  EXPECT_LE(std::count(all.begin(), all.end(), 'a'), 4);
}

TEST(TimedChoice, AnotherKindBeginsAnew) {
  timed_choice choice;
  static_cast<void>(run(choice, 1, 50, {0, 1}, {{0, 100}, {1, 300}}));
  EXPECT_EQ(run(choice, 2, 9, {0, 1, 2}, {{0, 300}, {1, 100}, {2, 300}}), "aaaabbbcc");
}

TEST(TimedChoice, MayBeFixed) {
  timed_choice choice;
  choice.fix(2);
  EXPECT_EQ(run(choice, 1, 12, {0, 2}, {{2, 100}}), "cccccccccccc");
  EXPECT_EQ(run(choice, 2, 12, {0, 2}, {{2, 100}}), "cccccccccccc");
}

}  // namespace
}  // namespace cairn::timed_choice_test
