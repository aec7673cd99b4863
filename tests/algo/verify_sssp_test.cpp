// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/ref/sssp.hpp>
#include <cairn/algo/sssp.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>
#include <support/weighted_graph.hpp>

#include "algo/sssp_judging.hpp"

namespace cairn::algo::verify_sssp_test {
namespace {

TEST(SsspVerifier, CatchesEveryChangeOfADistance) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      random64 draw(7);
      for (int i = 0; i < 60; ++i) {
        const auto kind = i % 2 == 0 ? weights::whole : weights::none;
        const auto g = support::weigh(support::random_graph(draw()), kind, 0, draw);
        const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
        const auto source = draw.below(g.graph.n);
        auto r = std::get<0>(sssp(w, share, static_cast<std::uint32_t>(source)));
        const auto right = all_of(w, r.distance);
        for (int changes = 1 + static_cast<int>(draw.below(3)); changes > 0; --changes) {
          const auto v = draw.below(g.graph.n);
          const auto x = draw.below(8);
          if (!r.distance.owns(v)) continue;
          r.distance.store(v, x == 7 ? unreached<std::uint32_t> : static_cast<std::uint32_t>(x));
        }
        const bool changed = all_of(w, r.distance) != right;
        EXPECT_EQ(verify_sssp(w, share, source, r.distance).has_value(), changed) << g.graph.name;
      }
    });
  }
}

TEST(SsspVerifier, CatchesEveryWrongPredecessor) {
  for (const rank_t ranks : {1, 3}) {
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      random64 draw(8);
      for (int i = 0; i < 60; ++i) {
        const auto g = support::weigh(support::random_graph(draw()), weights::whole, 0, draw);
        const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
        const auto source = draw.below(g.graph.n);
        auto r =
            std::get<0>(sssp(w, share, static_cast<std::uint32_t>(source), {.predecessors = true}));
        const auto v = draw.below(g.graph.n), x = draw.below(g.graph.n);
        if (r.predecessor->owns(v)) r.predecessor->store(v, x);
        const auto wrong =
            ref::tree_violation(g.graph.directed, g.edges, source, all_of(w, r.distance),
                                support::whole(w, *r.predecessor));
        EXPECT_EQ(verify_sssp(w, share, source, r.distance, &*r.predecessor).has_value(),
                  !wrong.empty())
            << g.graph.name << " " << wrong;
      }
    });
  }
}

// Rules that look at single edges accept these.
TEST(SsspVerifier, CatchesCyclesOfNoLengthThatHoldEachOther) {
  world w;
  weighted_graph g{{"", 4, true, {}}, weights::whole, {{0, 1, 5}, {1, 2, 0}, {2, 1, 0}, {2, 3, 1}}};
  const auto share = share_of<std::uint32_t>(g, 0, 1);
  pgas::vertex_map<std::uint64_t> d(w, share.partition(), 0);
  const auto judge = [&](std::vector<std::uint64_t> values) {
    std::copy(values.begin(), values.end(), d.local().begin());
    return verify_sssp(w, share, 0, d);
  };
  constexpr auto far = unreached<std::uint64_t>;
  EXPECT_EQ(judge({0, 5, 5, 6}), std::nullopt);
  EXPECT_EQ(judge({0, 2, 2, 3}), "no path from the source has the distance of vertex 1 as length");
  EXPECT_EQ(judge({1, 6, 6, 7}), "the source, vertex 0, does not have distance 0");
  EXPECT_EQ(judge({0, 5, 5, 7}), "vertex 3 has a larger distance than by the edge from 2");
  EXPECT_EQ(judge({0, far, far, far}), "vertex 1 has a larger distance than by the edge from 0");
  EXPECT_EQ(judge({0, far - 1, far - 1, far - 1}),
            "vertex 1 has a larger distance than by the edge from 0");
}
}  // namespace
}  // namespace cairn::algo::verify_sssp_test
