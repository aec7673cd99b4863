// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/figures/claims.hpp>

namespace cairn::bench {
namespace {

using nlohmann::json;
using kind = verdict::kind;

json spread(double median, double mad = 0.01) { return {{"median", median}, {"mad", mad}}; }

json graph(int scale, double ratio, double by_hand) {
  return {{"scale", scale},
          {"degree", 16},
          {"ratio", spread(ratio)},
          {"by_hand_ratio", spread(by_hand)}};
}

TEST(GraphsClaim, HoldsIfTransactionsGainAtEveryPoint) {
  EXPECT_EQ(check_graphs(std::vector{graph(16, 1.2, 1), graph(18, 1.3, 2)}).is, kind::holds);
  const auto v = check_graphs(std::vector{graph(16, 1.2, 1), graph(18, 0.9, 2)});
  EXPECT_EQ(v.is, kind::fails);
  EXPECT_NE(v.why.find("scale 18"), std::string::npos) << v.why;
  EXPECT_NE(v.why.find("1.00 to 2.00 times the speed of the search by hand"), std::string::npos)
      << v.why;
  EXPECT_EQ(check_graphs({}).is, kind::undecided);
}

TEST(GraphsClaim, SaysWithoutHtmHowAtomicsCompare) {
  auto without = graph(16, 1, 1.5);
  without.erase("ratio");
  const auto v = check_graphs(std::vector<json>{without, {{"no_htm", "it is switched off"}}});
  EXPECT_EQ(v.is, kind::undecided);
  EXPECT_NE(v.why.find("1.50"), std::string::npos) << v.why;
}

json at(const char* mechanism, int threads, double seconds) {
  return {{"mechanism", mechanism}, {"threads", threads}, {"seconds", spread(seconds)}};
}

TEST(ThreadsClaim, HoldsIfEachMechanismGains) {
  EXPECT_EQ(check_threads(std::vector{at("atomics", 1, 4), at("atomics", 2, 2), at("locks", 1, 6),
                                      at("locks", 2, 5)})
                .is,
            kind::holds);
  const auto v = check_threads(
      std::vector{at("atomics", 1, 4), at("atomics", 2, 2), at("locks", 1, 6), at("locks", 2, 6)});
  EXPECT_EQ(v.is, kind::fails);
  EXPECT_NE(v.why.find("atomics 2.00 times as fast on 2 threads"), std::string::npos) << v.why;
}

TEST(ThreadsClaim, IsUndecidedForOneNumberOfThreads) {
  EXPECT_EQ(check_threads(std::vector{at("atomics", 1, 4)}).is, kind::undecided);
  EXPECT_EQ(check_threads({}).is, kind::undecided);
}

}  // namespace
}  // namespace cairn::bench
