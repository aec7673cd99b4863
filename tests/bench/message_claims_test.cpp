// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/figures/claims.hpp>

namespace cairn::bench {
namespace {

using nlohmann::json;
using kind = verdict::kind;

json remote(const char* work, int ranks, int messages, double ratio, double mad = 0.01) {
  return {{"work", work},
          {"ranks", ranks},
          {"messages", messages},
          {"ratio", {{"median", ratio}, {"mad", mad}}}};
}

// Marks as claimed, and increments with these ratios.
std::vector<json> sweep(double alone, double coalesced, double many) {
  return {remote("mark", 2, 64, 5),         remote("mark", 2, 1, 0.5),
          remote("mark", 2, 4, 1.2),        remote("mark", 4, 64, 6),
          remote("increment", 2, 1, alone), remote("increment", 2, 64, coalesced),
          remote("increment", 4, 64, many)};
}

TEST(RemoteClaim, HoldsIfMessagesAloneLoseAndCoalescedOnesWin) {
  const auto v = check_remote(sweep(0.4, 2, 3));
  EXPECT_EQ(v.is, kind::holds) << v.why;
  EXPECT_NE(v.why.find("faster from C = 4, 5.0 times at C = 64"), std::string::npos) << v.why;
  EXPECT_NE(v.why.find("3.0 with 3 sending to one"), std::string::npos) << v.why;
}

TEST(RemoteClaim, FailsWhereOneOfItsPartsDoes) {
  EXPECT_EQ(check_remote(sweep(1.3, 2, 3)).is, kind::fails) << "alone wins";
  EXPECT_EQ(check_remote(sweep(0.4, 0.9, 3)).is, kind::fails) << "no C is enough";
  EXPECT_EQ(check_remote(sweep(0.4, 2, 0.9)).is, kind::fails) << "many to one lose";
  auto blurred = sweep(0.4, 2, 3);
  blurred[5] = remote("increment", 2, 64, 1.1, 0.2);
  EXPECT_EQ(check_remote(blurred).is, kind::fails);
}

TEST(RemoteClaim, IsUndecidedWithoutMpiAndWithoutMessagesAlone) {
  const std::vector<json> none(1, json{{"no_mpi", "there is none"}});
  EXPECT_EQ(check_remote(none).is, kind::undecided);
  EXPECT_EQ(check_remote(none).why, "there is none");
  EXPECT_EQ(check_remote({}).is, kind::undecided);
  auto all = sweep(0.4, 2, 3);
  all.erase(all.begin() + 4);
  EXPECT_EQ(check_remote(all).is, kind::undecided);
}

json pagerank(double alone) {
  return {{"ranks", 2},
          {"threads", 1},
          {"vertices", 4096},
          {"seconds", {{"median", 1 / alone}, {"mad", 0.01}}},
          {"alone", {{"median", alone}, {"mad", 0.1}}},
          {"pull", {{"median", 0.7}, {"mad", 0.1}}}};
}

TEST(PagerankClaim, HoldsIfEachPointGainsThreefold) {
  EXPECT_EQ(check_pagerank(std::vector{pagerank(3.5), pagerank(9)}).is, kind::holds);
  const auto v = check_pagerank(std::vector{pagerank(9), pagerank(2.5)});
  EXPECT_EQ(v.is, kind::fails);
  EXPECT_NE(v.why.find("2.5 times"), std::string::npos) << v.why;
  auto one_rank = pagerank(20);
  one_rank["ranks"] = 1;
  one_rank.erase("alone");
  const auto split = check_pagerank(std::vector{pagerank(3.5), one_rank});
  EXPECT_EQ(split.is, kind::holds) << "one rank sends nothing";
  EXPECT_NE(split.why.find("a second with 1 ranks"), std::string::npos) << split.why;
  EXPECT_EQ(check_pagerank(std::vector{one_rank}).is, kind::undecided);
  EXPECT_EQ(check_pagerank({}).is, kind::undecided);
}

}  // namespace
}  // namespace cairn::bench
