// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/figures/claims.hpp>

namespace cairn::bench {
namespace {

using nlohmann::json;
using kind = verdict::kind;

json spread(double median, double mad = 0.01) { return {{"median", median}, {"mad", mad}}; }

json scenario(int transactions, int remote, double seconds, int commits_short_of = 0) {
  return {{"transactions", transactions},
          {"local", 4 + remote},
          {"remote", remote},
          {"seconds", spread(seconds)},
          {"expected", 2 * transactions},
          {"commits", 2 * transactions - commits_short_of},
          {"restarts", 7 * transactions}};
}

json refusals(bool back_off, bool ended) {
  return {{"back_off", back_off}, {"ranks", 2}, {"turns", 1000}, {"ended", ended}};
}

json chain(int elements, int restarts) {
  return {{"chain", elements}, {"expected", 100}, {"commits", 100}, {"restarts", restarts}};
}

// The scenarios as claimed; then without back-off, with it, and a chain of 8 elements.
std::vector<json> figure(bool livelock, bool ended, double restarts) {
  return {scenario(1000, 1, 1),
          scenario(10'000, 1, 9),
          scenario(1000, 3, 2),
          scenario(10'000, 3, 20),
          refusals(false, !livelock),
          refusals(true, ended),
          chain(8, static_cast<int>(100 * restarts))};
}

TEST(DistributedClaim, HoldsIfRemoteElementsCost) {
  const auto all = figure(true, true, 8);
  EXPECT_EQ(check_distributed(all).is, kind::holds) << check_distributed(all).why;
  EXPECT_EQ(check_distributed(std::span(all).subspan(1)).is, kind::undecided);
  EXPECT_EQ(check_distributed(std::span(all).first(4)).is, kind::undecided) << "scenarios alone";
}

TEST(DistributedClaim, FailsIfTheyDoNotOrATransactionIsLost) {
  const std::vector<json> flat{scenario(1000, 1, 1), scenario(10'000, 1, 9), scenario(1000, 3, 2),
                               scenario(10'000, 3, 9)};
  const std::vector<json> lost{scenario(1000, 1, 1), scenario(10'000, 1, 9), scenario(1000, 3, 2),
                               scenario(10'000, 3, 20, 1)};
  const std::vector<json> free{scenario(1000, 1, 1), scenario(10'000, 1, 1), scenario(1000, 3, 2),
                               scenario(10'000, 3, 20)};
  EXPECT_EQ(check_distributed(flat).is, kind::fails);
  EXPECT_EQ(check_distributed(lost).is, kind::fails);
  EXPECT_EQ(check_distributed(free).is, kind::fails);
}

TEST(DistributedClaim, FailsUnlessBackOffAloneEndsRefusals) {
  EXPECT_EQ(check_distributed(figure(false, true, 8)).is, kind::fails);
  EXPECT_EQ(check_distributed(figure(true, false, 8)).is, kind::fails);
}

TEST(DistributedClaim, FailsIfABodyBeginsAgainTooOftenOrNotAtAll) {
  EXPECT_EQ(check_distributed(figure(true, true, 9.5)).is, kind::holds);
  EXPECT_EQ(check_distributed(figure(true, true, 17)).is, kind::fails);
  EXPECT_EQ(check_distributed(figure(true, true, 1)).is, kind::fails);
}

}  // namespace
}  // namespace cairn::bench
