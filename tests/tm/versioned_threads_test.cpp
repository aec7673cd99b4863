// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <support/transaction_soak.hpp>

namespace cairn::tm::versioned_threads_test {
namespace {

using cairn::support::transaction_soak;

struct stores_at_once : tm::versioned_rules {
  static constexpr bool in_place = true;
};

TEST(VersionedThreads, HaveAnOrderThatExplainsEveryRead) {
  const auto result = transaction_soak<>({.transactions = 200'000}).run();
  EXPECT_EQ(result.complaint, "");
  EXPECT_GE(result.committed, 200'000u);
  EXPECT_GT(result.left, 0u);
}

TEST(VersionedThreads, HaveAnOrderInPlace) {
  const auto result = transaction_soak<stores_at_once>({.transactions = 100'000, .seed = 2}).run();
  EXPECT_EQ(result.complaint, "");
}

// The checker catches on threads what the schedules catch one by one.
struct commits_unchecked : tm::versioned_rules {
  static constexpr bool check_at_commit = false;
};
struct extends_unchecked : tm::versioned_rules {
  static constexpr bool check_when_extending = false;
};

TEST(VersionedThreads, ATwinThatCommitsUncheckedIsCaught) {
  const auto result =
      transaction_soak<commits_unchecked>({.transactions = 2'000'000, .batch = 20'000}).run();
  EXPECT_NE(result.complaint, "");
}
TEST(VersionedThreads, ATwinThatExtendsUncheckedIsCaught) {
  const auto result =
      transaction_soak<extends_unchecked>({.transactions = 2'000'000, .batch = 20'000}).run();
  EXPECT_NE(result.complaint, "");
}

}  // namespace
}  // namespace cairn::tm::versioned_threads_test
