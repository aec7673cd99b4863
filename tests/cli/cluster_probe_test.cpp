// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster_probe.hpp"

#include <gtest/gtest.h>

#include <cairn/base/contract.hpp>
#include <cairn/core/simulation.hpp>

#include <support/on_ranks.hpp>

namespace cairn::cli::cluster_probe_test {
namespace {

constexpr cluster_probe_options few{.vertices = 8192, .rounds = 1};
constexpr cluster_probe_options smallest{.vertices = 256, .rounds = 1};

cluster_costs found_in(const cluster_costs& given) {
  cluster_costs alone, found;
  run_simulated({.ranks = 1, .costs = given}, {}, [&](world& w) { alone = probe_rank(w, few); });
  run_simulated({.ranks = 2, .costs = given}, {}, [&](world& w) {
    const auto mine = probe_cluster(w, alone, few);
    if (w.rank() == 0) found = mine;
    EXPECT_EQ(w.all_gather(mine.commit_ns)[0], mine.commit_ns);
  });
  return found;
}

TEST(ClusterProbe, FindsTheCostsOfASimulatedCluster) {
  const cluster_costs clusters[] = {
      {.network = {.latency_ns = 1500, .overhead_ns = 300, .gap_ns = 350, .byte_ns = 0.1},
       .message_ns = 20,
       .edge_ns = 5,
       .owner_ns = 8,
       .commit_ns = 300},
      {.network = {.latency_ns = 3000, .overhead_ns = 1000, .gap_ns = 1500, .byte_ns = 0.5},
       .message_ns = 50,
       .edge_ns = 10,
       .owner_ns = 20,
       .commit_ns = 900}};
  for (const auto& given : clusters) {
    const auto found = found_in(given);
    EXPECT_NEAR(found.edge_ns, given.edge_ns, 0.1 * given.edge_ns) << found.text();
    EXPECT_NEAR(found.owner_ns, given.owner_ns, 0.1 * given.owner_ns) << found.text();
    EXPECT_NEAR(found.commit_ns, given.commit_ns, 0.1 * given.commit_ns) << found.text();
    EXPECT_NEAR(found.message_ns, given.message_ns, 0.2 * given.message_ns) << found.text();
    EXPECT_NEAR(found.network.byte_ns, given.network.byte_ns, 0.1 * given.network.byte_ns);
    EXPECT_NEAR(found.network.gap_ns, given.network.gap_ns, 0.2 * given.network.gap_ns)
        << found.text();
    EXPECT_NEAR(found.network.latency_ns, given.network.latency_ns, 0.1 * given.network.latency_ns)
        << found.text();
  }
}

TEST(ClusterProbe, MeasuresThreadsAndRefusesOtherClusters) {
  support::on_ranks(2, 1, [](world& w) {
    world single;
    const auto costs = probe_cluster(w, probe_rank(single, smallest), smallest);
    EXPECT_EQ(costs.text(), cluster_costs(costs).text());
    EXPECT_GE(costs.network.overhead_ns, 0);
  });
  support::on_ranks(1, 1, [](world& w) {
    EXPECT_THROW(static_cast<void>(probe_cluster(w, {}, few)), contract_violation);
  });
  support::on_ranks(2, 1, [](world& w) {
    EXPECT_THROW(static_cast<void>(probe_rank(w, few)), contract_violation);
  });
}

}  // namespace
}  // namespace cairn::cli::cluster_probe_test
