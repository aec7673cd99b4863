// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/error.hpp>
#include <cairn/core/cluster_costs.hpp>
#include <cairn/core/simulation.hpp>

namespace cairn::cluster_costs_test {
namespace {

template <class Error>
std::string sentence_of(const std::string& spec) {
  try {
    static_cast<void>(parse_simulation(spec));
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(ClusterCosts, AreSetByNameAndWritten) {
  cluster_costs c;
  ASSERT_TRUE(c.set("latency_us", "0.25"));
  ASSERT_TRUE(c.set("byte_ns", "0.125"));
  ASSERT_TRUE(c.set("commit_ns", 17));
  EXPECT_EQ(c.network.latency_ns, 250);
  EXPECT_EQ(c.network.byte_ns, 0.125);
  EXPECT_EQ(c.commit_ns, 17);
  EXPECT_EQ(c.text().find("{\"latency_us\": 0.25, "), 0u) << c.text();
}

TEST(ClusterCosts, MediansAreOfEachCostByItself) {
  std::vector<cluster_costs> found(3);
  for (double i = 0; auto& c : found) {
    c.edge_ns = 10 + i;
    c.network.gap_ns = 500 - 100 * i++;
  }
  found[1].owner_ns = 1000;
  const auto median = cluster_costs::median(found);
  EXPECT_EQ(median.edge_ns, 11);
  EXPECT_EQ(median.network.gap_ns, 400);
  EXPECT_EQ(median.owner_ns, cluster_costs{}.owner_ns);
}

TEST(ClusterCosts, TakeNoOtherNamesAndNumbers) {
  cluster_costs c;
  EXPECT_FALSE(c.set("latency", "1"));
  for (const auto* const bad : {"", "-1", "nan", "inf", "1x", "2e9"}) {
    EXPECT_FALSE(c.set("edge_ns", bad)) << bad;
  }
  EXPECT_EQ(c.text(), cluster_costs{}.text());
}

TEST(ParseSimulation, AClockPredictsAndCostsChangeIt) {
  EXPECT_FALSE(parse_simulation("ranks=4").cluster.costs);
  const auto plain = parse_simulation("ranks=4,clock=loggp");
  ASSERT_TRUE(plain.cluster.costs);
  EXPECT_EQ(plain.cluster.costs->text(), cluster_costs{}.text());
  const auto changed = parse_simulation("edge_ns=4,clock=loggp,latency_us=3,seed=2");
  EXPECT_EQ(changed.cluster.costs->edge_ns, 4);
  EXPECT_EQ(changed.cluster.costs->network.latency_ns, 3000);
  cluster_costs of_file;
  of_file.edge_ns = 9;
  const auto read = parse_simulation("clock=file.json,gap_us=2", of_file);
  EXPECT_EQ(read.cluster.costs->network.gap_ns, 2000);
  EXPECT_EQ(read.cluster.costs->edge_ns, 9);
  EXPECT_EQ(clock_file_of("gap_us=2,clock=file.json"), "file.json");
  EXPECT_EQ(clock_file_of("ranks=2,clock=loggp"), "");
}

TEST(ParseSimulation, CostsWithoutAClockAreRefused) {
  EXPECT_NE(sentence_of<usage_error>("edge_ns=4").find("needs clock=loggp"), std::string::npos);
  for (const auto* const no_costs : {"clock=", "clock=file.json"}) {
    EXPECT_NE(sentence_of<usage_error>(no_costs).find("', expected loggp or"), std::string::npos);
  }
  EXPECT_NE(sentence_of<usage_error>("clock=loggp,edge_ns=x").find("edge_ns is 'x', expected"),
            std::string::npos);
  EXPECT_NE(sentence_of<usage_error>("clock=loggp,edges=1").find("--sim has the item 'edges=1'"),
            std::string::npos);
}

}  // namespace
}  // namespace cairn::cluster_costs_test
