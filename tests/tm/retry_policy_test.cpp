// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/tm/retry_policy.hpp>

namespace cairn::tm::retry_policy_test {
namespace {

const auto conflict = attempt_outcome::abort(abort_cause::conflict);
const auto capacity = attempt_outcome::abort(abort_cause::capacity);
const auto other = attempt_outcome::abort(abort_cause::other);
const auto lock_taken = attempt_outcome::abort(abort_cause::explicit_, abort_code::lock_taken);
const auto left = attempt_outcome::abort(abort_cause::explicit_, abort_code::left);
const std::vector<attempt_outcome> all{conflict, capacity, other, lock_taken, left};

constexpr tm::retry_limits small{.conflicts = 2, .lock_waits = 2, .others = 1};

bool ends(retry_step s) { return s == retry_step::split || s == retry_step::fall_back; }

struct walk {
  std::size_t operators;
  std::size_t paths = 0;

  // Plays every sequence of aborts that goes on from here; `seen` are those so far.
  void play(const retry_policy& policy, std::vector<attempt_outcome>& seen) {
    ASSERT_LE(seen.size(), small.conflicts + small.lock_waits + small.others) << "never ends";
    for (const auto aborted : all) {
      auto next = policy;
      const auto step = next.next(aborted).step;
      const auto before = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), aborted));
      ASSERT_EQ(step, expected(aborted, before));
      if (ends(step)) {
        ++paths;
        continue;
      }
      seen.push_back(aborted);
      play(next, seen);
      seen.pop_back();
    }
  }

  retry_step expected(attempt_outcome aborted, std::size_t before) const {
    if (aborted == conflict && before < small.conflicts) return retry_step::retry;
    if (aborted == lock_taken && before < small.lock_waits) return retry_step::wait_then_retry;
    if (aborted == other && before < small.others) return retry_step::pretouch_then_retry;
    if (aborted == capacity && operators > 1) return retry_step::split;
    return retry_step::fall_back;
  }
};

TEST(RetryPolicy, EverySequenceOfAbortsEndsWithinTheLimits) {
  for (const std::size_t operators : {0, 1, 2, 128}) {
    retry_policy policy(small);
    policy.start(operators);
    walk w{operators};
    std::vector<attempt_outcome> seen;
    w.play(policy, seen);
    // Interleavings of up to 2 conflicts, 2 waits and 1 touch, each of which may end in
    // capacity, left, or one more of a kind that is used up.
    EXPECT_GT(w.paths, 150u);
  }
}

TEST(RetryPolicy, LimitsOfZeroNeverTryAgain) {
  retry_policy policy({.conflicts = 0, .lock_waits = 0, .others = 0});
  for (const auto aborted : all) {
    policy.start(1);
    EXPECT_EQ(policy.next(aborted).step, retry_step::fall_back);
  }
}

TEST(RetryPolicy, CountsAllCausesTogetherWhereAskedTo) {
  retry_policy elision(tm::retry_hle), blue_gene(tm::retry_bgq);
  for (const auto aborted : all) {
    elision.start(64);
    EXPECT_EQ(elision.next(aborted).step, retry_step::fall_back);
  }
  blue_gene.start(64);
  for (int i = 0; i < 10; ++i) {
    const auto step = blue_gene.next(i % 2 == 0 ? conflict : capacity).step;
    EXPECT_EQ(step, retry_step::retry);
  }
  EXPECT_EQ(blue_gene.next(conflict).step, retry_step::fall_back);
}

TEST(RetryPolicy, HasThreeNamesThatParseBack) {
  for (const auto* text : {"rtm", "hle", "bgq"}) {
    EXPECT_EQ(tm::name(tm::parse_retry(text)), text);
  }
  EXPECT_EQ(tm::parse_retry("rtm"), tm::retry_limits{});
  EXPECT_EQ(tm::name(tm::retry_limits{.conflicts = 3}), "limits");
  EXPECT_THROW(static_cast<void>(tm::parse_retry("often")), cairn::usage_error);
}

TEST(RetryPolicy, EachGroupStartsAfresh) {
  retry_policy policy({.conflicts = 1});
  for (int group = 0; group < 3; ++group) {
    policy.start(4);
    EXPECT_EQ(policy.next(conflict).step, retry_step::retry);
    EXPECT_EQ(policy.next(conflict).step, retry_step::fall_back);
  }
}

TEST(RetryPolicy, BacksOffAtRandomInAWindowThatDoublesUpToItsLimit) {
  const tm::retry_limits limits{.conflicts = 40, .first_pauses = 4, .max_pauses = 64};
  std::vector<std::uint32_t> longest(limits.conflicts, 0);
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    retry_policy policy(limits, seed);
    policy.start(1);
    for (auto& l : longest) l = std::max(l, policy.next(conflict).pauses);
  }
  for (std::size_t i = 0; i < longest.size(); ++i) {
    const std::uint32_t window = i < 4 ? 4u << i : 64u;
    EXPECT_LE(longest[i], window) << "conflict " << i;
    EXPECT_GT(longest[i], window / 2) << "conflict " << i;
  }
}

TEST(RetryPolicy, EqualSeedsBackOffEqually) {
  const auto pauses = [](std::uint64_t seed) {
    retry_policy policy({}, seed);
    std::vector<std::uint32_t> drawn;
    for (int group = 0; group < 10; ++group) {
      policy.start(1);
      for (std::uint32_t i = 0; i < policy.limits().conflicts; ++i) {
        drawn.push_back(policy.next(conflict).pauses);
      }
    }
    return drawn;
  };
  EXPECT_EQ(pauses(3), pauses(3));
  EXPECT_NE(pauses(3), pauses(4));
}

}  // namespace
}  // namespace cairn::tm::retry_policy_test
