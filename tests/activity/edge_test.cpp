// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/activity/executor.hpp>
#include <cairn/am/epoch.hpp>
#include <cairn/pgas/edge_map.hpp>

#include <support/places.hpp>

namespace cairn::activity::edge_test {
namespace {

struct visit {
  struct message {
    std::uint64_t edge;
  };
  const pgas::edge_map<std::uint32_t>& visits;
  auto cell(const message& m) const { return visits.at(m.edge); }
  bool wanted(std::uint32_t, const message&) const { return true; }
  void attempt(auto x, const message&) const { x.add(1); }
};

class EdgeOperator : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, EdgeOperator, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(EdgeOperator, ReachesEdgesOfAllRanks) {
  GetParam().run([](world& w) {
    // Rows of 1, 2, 3 entries on every rank.
    const std::vector<std::uint64_t> offsets{0, 1, 3, 6};
    pgas::edge_map<std::uint32_t> visits(w, offsets, 0);
    executor<visit> op(w, visit{visits});
    am::epoch e(w);
    op.spawn(main_worker, [&](auto& send) {
      for (std::uint64_t id = 0; id < visits.size(); ++id) send({id});
    });
    e.close();
    for (const auto x : visits.local()) EXPECT_EQ(x, static_cast<std::uint32_t>(w.size()));
  });
}

}  // namespace
}  // namespace cairn::activity::edge_test
