// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <gtest/gtest.h>

#include <cairn/core/rest_choice.hpp>

namespace cairn::rest_choice_test {
namespace {

// What the thread decides, if it looks every `look_ns`, after workers have polled every `poll_ns`
// for 20 ms.
bool rests_at(rest_choice& choice, std::uint64_t& now, std::uint64_t& polls, std::uint64_t look_ns,
              std::uint64_t poll_ns) {
  bool rests = false;
  const auto polls_before = polls, begin = now;
  for (const auto end = now + 20'000'000; now < end;) {
    now += look_ns;
    polls = polls_before + (now - begin) / poll_ns;
    rests = choice.rests(polls, now);
  }
  return rests;
}

TEST(RestChoice, RestsWhileWorkersPollOften) {
  for (const std::uint64_t look_ns : {200, 50'000, 1'000'000}) {
    rest_choice choice;
    std::uint64_t now = 0, polls = 0;
    for (int round = 0; round < 2; ++round) {
      EXPECT_TRUE(rests_at(choice, now, polls, look_ns, 500)) << look_ns;
      EXPECT_TRUE(rests_at(choice, now, polls, look_ns, 10'000)) << look_ns;
      EXPECT_FALSE(rests_at(choice, now, polls, look_ns, 100'000)) << look_ns;
      EXPECT_FALSE(rests_at(choice, now, polls, look_ns, 5'000'000)) << look_ns;
      EXPECT_FALSE(rests_at(choice, now, polls, look_ns, 1'000'000'000)) << look_ns;
    }
  }
}

}  // namespace
}  // namespace cairn::rest_choice_test
