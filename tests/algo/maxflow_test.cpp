// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/maxflow.hpp>
#include <cairn/algo/ref/maxflow.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo {
namespace {

using activity::mechanism;
using support::plain_graph;

struct network {
  std::string name;
  std::uint64_t n;
  bool directed, weighted;
  std::vector<ref::capacity_arc> arcs;  // an undirected edge both ways, a self-loop of it too
};

network weigh(const plain_graph& g, bool weighted, random64& dice) {
  network result{g.name, g.n, g.directed, weighted, {}};
  for (const auto& e : g.edges) {
    const auto c = weighted ? static_cast<std::int64_t>(dice.below(12)) : 1;
    result.arcs.push_back({e.source, e.target, c});
    if (!g.directed && e.source != e.target) result.arcs.push_back({e.target, e.source, c});
  }
  std::sort(result.arcs.begin(), result.arcs.end(), [](const auto& a, const auto& b) {
    return std::tie(a.source, a.target, a.capacity) < std::tie(b.source, b.target, b.capacity);
  });
  return result;
}

template <class Id>
graph::dist_csr<Id> share_of(const network& g, rank_t rank, rank_t ranks) {
  const pgas::block_partition partition(g.n, ranks);
  std::vector<std::uint64_t> offsets{0};
  std::vector<Id> targets;
  std::vector<std::int32_t> weights;
  for (auto v = partition.first(rank); v < partition.last(rank); ++v) {
    for (const auto& a : g.arcs) {
      if (a.source != v) continue;
      targets.push_back(static_cast<Id>(a.target));
      weights.push_back(static_cast<std::int32_t>(a.capacity));
    }
    offsets.push_back(targets.size());
  }
  graph::weight_array values;
  if (g.weighted) values = support::detail::to_array(weights);
  return {partition, g.directed, g.arcs.size(),
          graph::csr<Id>(partition.first(rank), support::detail::to_array(offsets),
                         support::detail::to_array(targets), std::move(values)),
          graph::labels(g.n)};
}

template <class Id>
void find_and_judge(world& w, const network& g, Id s, Id t, const maxflow_options& opt) {
  const auto how = g.name + ", " + std::string(name(opt.activity.how)) + ", " + std::to_string(s) +
                   " to " + std::to_string(t);
  const auto share = share_of<Id>(g, w.rank(), w.size());
  const auto found = maxflow<Id>(w, share, s, t, opt);
  EXPECT_EQ(found.value, ref::edmonds_karp(g.n, g.arcs, s, t)) << how;
  EXPECT_EQ(verify_maxflow<Id>(w, share, s, t, found.value, found.flow, found.source_side),
            std::nullopt)
      << how;
}

// The same draws on every rank, and thus the same collective calls.
void find_at_random(world& w, const plain_graph& plain, random64& dice) {
  if (plain.n < 2) return;
  maxflow_options opt;
  const mechanism all[] = {mechanism::automatic, mechanism::locks, mechanism::htm, mechanism::stm,
                           mechanism::plain};
  opt.activity.how = all[dice.below(w.workers() == 1 ? 5 : 4)];
  if (dice.below(2) == 0) opt.activity.grain = 1 + dice.below(9);
  opt.activity.emulate = activity::emulation_options{.seed = dice()};
  const auto g = weigh(plain, dice.below(3) != 0, dice);
  const auto s = dice.below(g.n), t = (s + 1 + dice.below(g.n - 1)) % g.n;
  if (dice.below(2) == 0) {
    find_and_judge<std::uint32_t>(w, g, static_cast<std::uint32_t>(s),
                                  static_cast<std::uint32_t>(t), opt);
  } else {
    find_and_judge<std::uint64_t>(w, g, s, t, opt);
  }
}

class Maxflow : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Maxflow, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Maxflow, IsRightOnCornerGraphs) {
  GetParam().run([](world& w) {
    random64 dice(1);
    for (const auto& g : support::corner_graphs()) find_at_random(w, g, dice);
  });
}

TEST_P(Maxflow, IsRightOnRandomGraphs) {
  const int graphs = GetParam().simulated() ? 20 : 6;
  GetParam().run([&](world& w) {
    random64 dice(2);
    for (int i = 0; i < graphs; ++i) find_at_random(w, support::random_graph(dice(), 60), dice);
  });
}

TEST_P(Maxflow, IsRightWithTinyBuffers) {
  GetParam().run(
      [](world& w) {
        random64 dice(3);
        for (int i = 0; i < 3; ++i) find_at_random(w, support::random_graph(dice(), 40), dice);
      },
      {.coalesce_bytes = 16, .coalesce_age_ns = 0, .pending_bytes = 100});
}

TEST(MaxflowSimulated, ManySeedsGiveRightResults) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    random64 shape(seed, 9);
    const auto ranks = static_cast<rank_t>(1 + shape.below(9));
    const auto workers = static_cast<int>(1 + shape.below(3));
    SCOPED_TRACE("seed " + std::to_string(seed));
    support::on_simulated_ranks(ranks, workers, seed, [&](world& w) {
      random64 dice(seed);
      find_at_random(w, support::random_graph(seed, 60), dice);
    });
  }
}

TEST(MaxflowOptions, RefuseWhatCannotBeRight) {
  world w;
  const auto g = share_of<std::uint32_t>({"one arc", 2, true, true, {{0, 1, -3}}}, 0, 1);
  EXPECT_THROW(static_cast<void>(maxflow<std::uint32_t>(w, g, 0, 0)), contract_violation);
  EXPECT_THROW(static_cast<void>(maxflow<std::uint32_t>(w, g, 0, 2)), contract_violation);
  EXPECT_THROW(static_cast<void>(maxflow<std::uint32_t>(w, g, 0, 1)), input_error);
}

// 0 -> 1 -> 3 and 0 -> 2 -> 3, of capacities 2, 1 and 3, 4; a useless 1 -> 2 of 0.
class VerifyMaxflow : public ::testing::TestWithParam<rank_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, VerifyMaxflow, ::testing::Values(1, 2, 3));

TEST_P(VerifyMaxflow, AcceptsWhatIsMaximalAndNothingElse) {
  const network g{
      "diamond", 4, true, true, {{0, 1, 2}, {0, 2, 3}, {1, 2, 0}, {1, 3, 1}, {2, 3, 4}}};
  using arcs = std::vector<flow_arc<std::uint32_t>>;
  support::on_simulated_ranks(GetParam(), 2, 1, [&](world& w) {
    const auto share = share_of<std::uint32_t>(g, w.rank(), w.size());
    const auto said = [&](std::int64_t value, const arcs& all, std::vector<std::uint32_t> sides) {
      arcs mine;
      for (const auto& a : all) {
        if (share.partition().owner(a.source) == w.rank()) mine.push_back(a);
      }
      pgas::vertex_map<std::uint32_t> side(w, share.partition(), 0);
      for (std::size_t i = 0; i < side.local().size(); ++i) {
        side.local()[i] = sides[side.first() + i];
      }
      return verify_maxflow<std::uint32_t>(w, share, 0, 3, value, mine, side).value_or("nothing");
    };
    const arcs best{{0, 1, 1}, {0, 2, 3}, {1, 3, 1}, {2, 3, 3}};
    EXPECT_EQ(said(4, best, {1, 1, 0, 0}), "nothing");
    EXPECT_EQ(said(4, {{0, 1, 2}, {0, 2, 2}, {1, 2, 1}, {1, 3, 1}, {2, 3, 3}}, {1, 1, 0, 0}),
              "flow 1 -> 2 is not within the capacity");
    EXPECT_EQ(said(4, {{0, 1, 1}, {0, 2, 3}, {1, 3, 1}, {2, 3, 2}}, {1, 1, 0, 0}),
              "vertex 2 gets 1 more than it gives, not 0");
    EXPECT_EQ(said(4, {{0, 3, 4}}, {1, 1, 0, 0}), "flow 0 -> 3 is not within the capacity");
    EXPECT_EQ(said(4, {{0, 1, 1}, {0, 1, 1}, {1, 3, 1}}, {1, 1, 0, 0}),
              "flow 0 -> 1 stands there twice, or in no order");
    EXPECT_EQ(said(3, best, {1, 1, 0, 0}), "vertex 0 gets -4 more than it gives, not -3");
    EXPECT_EQ(said(4, best, {1, 0, 0, 0}), "the cut has a capacity of 5, the flow a value of 4");
    EXPECT_EQ(said(4, best, {0, 0, 0, 0}), "the cut does not part the source from the target");
    EXPECT_EQ(said(4, best, {1, 1, 1, 1}), "the cut does not part the source from the target");
    EXPECT_EQ(said(3, {{0, 2, 3}, {2, 3, 3}}, {1, 1, 0, 0}),
              "the cut has a capacity of 4, the flow a value of 3");
  });
}

}  // namespace
}  // namespace cairn::algo
