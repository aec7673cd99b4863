// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cairn/tm/attempt_outcome.hpp>

namespace cairn::tm::attempt_outcome_test {
namespace {

TEST(AttemptOutcome, ReadsTheStatusWordsOfTheManual) {
  EXPECT_TRUE(attempt_outcome(0xffffffffu).committed());
  EXPECT_EQ(attempt_outcome(0).cause(), abort_cause::other);
  EXPECT_EQ(attempt_outcome(1u << 2).cause(), abort_cause::conflict);
  EXPECT_EQ(attempt_outcome(1u << 2 | 1u << 1).cause(), abort_cause::conflict);
  EXPECT_EQ(attempt_outcome(1u << 3).cause(), abort_cause::capacity);
  EXPECT_EQ(attempt_outcome(1u << 4).cause(), abort_cause::other);  // a debug trap
  EXPECT_EQ(attempt_outcome(1u << 1).cause(), abort_cause::other);
  EXPECT_EQ(attempt_outcome(0xf1000001u).cause(), abort_cause::explicit_);
  EXPECT_EQ(attempt_outcome(0xf1000001u).code(), abort_code::left);
  EXPECT_EQ(attempt_outcome(0xf0000001u).code(), abort_code::lock_taken);
}

TEST(AttemptOutcome, CapacityWinsOverConflict) {
  EXPECT_EQ(attempt_outcome(1u << 2 | 1u << 3).cause(), abort_cause::capacity);
}

TEST(AttemptOutcome, HasACodeOnlyIfTheSoftwareLeft) {
  EXPECT_EQ(attempt_outcome(0xf0000004u).code(), abort_code::none);
}

TEST(AttemptOutcome, MakesWhatItReads) {
  EXPECT_TRUE(attempt_outcome::success().committed());
  for (const auto cause :
       {abort_cause::conflict, abort_cause::capacity, abort_cause::explicit_, abort_cause::other}) {
    const auto made = attempt_outcome::abort(cause, abort_code::left);
    EXPECT_FALSE(made.committed());
    EXPECT_EQ(made.cause(), cause);
    EXPECT_EQ(made.code(), cause == abort_cause::explicit_ ? abort_code::left : abort_code::none);
  }
}

}  // namespace
}  // namespace cairn::tm::attempt_outcome_test
