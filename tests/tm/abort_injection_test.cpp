// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/tm/abort_injection.hpp>

namespace cairn::tm::abort_injection_test {
namespace {

constexpr tm::abort_rates rates{
    .conflict = 0.2, .capacity = 0.1, .lock_taken = 0.1, .left = 0.05, .other = 0.15};

std::vector<std::optional<tm::injected_abort>> decisions(tm::abort_injection injection, int n) {
  std::vector<std::optional<tm::injected_abort>> made;
  for (int i = 0; i < n; ++i) made.push_back(injection.next());
  EXPECT_EQ(injection.attempts(), static_cast<std::uint64_t>(n));
  return made;
}

TEST(AbortInjection, EqualSeedsDecideEquallyAndOthersDoNot) {
  EXPECT_EQ(decisions(tm::abort_injection(5, rates), 500),
            decisions(tm::abort_injection(5, rates), 500));
  EXPECT_NE(decisions(tm::abort_injection(5, rates), 500),
            decisions(tm::abort_injection(6, rates), 500));
}

TEST(AbortInjection, KeepsItsRates) {
  constexpr int n = 20'000;
  std::map<std::uint32_t, int> seen;
  int at_commit = 0, aborts = 0;
  for (const auto& d : decisions(tm::abort_injection(1, rates), n)) {
    if (!d) continue;
    ++aborts;
    ++seen[d->outcome.status()];
    at_commit += d->at_commit ? 1 : 0;
  }
  const auto expect_rate = [&](attempt_outcome o, double rate) {
    EXPECT_NEAR(seen[o.status()], rate * n, 5 * std::sqrt(rate * n));
  };
  expect_rate(attempt_outcome::abort(abort_cause::conflict), 0.2);
  expect_rate(attempt_outcome::abort(abort_cause::capacity), 0.1);
  expect_rate(attempt_outcome::abort(abort_cause::explicit_, abort_code::lock_taken), 0.1);
  expect_rate(attempt_outcome::abort(abort_cause::explicit_, abort_code::left), 0.05);
  expect_rate(attempt_outcome::abort(abort_cause::other), 0.15);
  EXPECT_NEAR(at_commit, aborts / 2, 5 * std::sqrt(aborts));
}

TEST(AbortInjection, NoRatesMeanNoAborts) {
  for (const auto& d : decisions(tm::abort_injection(1), 100)) EXPECT_FALSE(d);
}

TEST(AbortInjection, FollowsItsScriptAndThenItsRates) {
  const tm::injected_abort conflict{attempt_outcome::abort(abort_cause::conflict), true};
  const tm::injected_abort other{attempt_outcome::abort(abort_cause::other)};
  tm::abort_injection injection(1, {.capacity = 1, .at_commit = 0}, {conflict, {}, other});
  EXPECT_EQ(injection.next(), conflict);
  EXPECT_EQ(injection.next(), std::nullopt);
  EXPECT_EQ(injection.next(), other);
  EXPECT_EQ(injection.next()->outcome, attempt_outcome::abort(abort_cause::capacity));
}

TEST(AbortInjection, RefusesImpossibleRates) {
  EXPECT_THROW(tm::abort_injection(1, {.conflict = 0.7, .other = 0.7}), cairn::contract_violation);
  EXPECT_THROW(tm::abort_injection(1, {.conflict = -0.1}), cairn::contract_violation);
}

}  // namespace
}  // namespace cairn::tm::abort_injection_test
