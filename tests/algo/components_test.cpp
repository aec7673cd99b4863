// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/components.hpp>
#include <cairn/algo/ref/components.hpp>
#include <cairn/algo/verify_components.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>

#include <support/activity_options.hpp>
#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

#include "algo/component_sizes.hpp"
#include "algo/wrong_fact.hpp"

namespace cairn::algo::components_test {
namespace {

using activity::mechanism;
using support::plain_graph;

std::vector<std::uint64_t> judged_labels(const plain_graph& g) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
  for (const auto& e : g.edges) edges.emplace_back(e.source, e.target);
  return ref::component_labels(g.n, edges);
}

// Runs once and has the result judged by the serial judge, and by the verifier.
template <class Id>
void find_and_judge(world& w, const plain_graph& g, support::in_edges in,
                    const components_options& opt, const std::string& setting) {
  const auto share = support::share_of<Id>(g, w.rank(), w.size(), in);
  const auto result = components(w, share, opt);
  const auto labels = judged_labels(g);
  EXPECT_EQ(support::whole(w, result.label), labels) << g.name << setting;
  std::vector<std::uint64_t> sizes(g.n);
  for (const auto l : labels) ++sizes[l];
  EXPECT_EQ(result.num_components, std::set(labels.begin(), labels.end()).size())
      << g.name << setting;
  EXPECT_EQ(result.largest, *std::max_element(sizes.begin(), sizes.end())) << g.name << setting;
  EXPECT_EQ(result.method,
            opt.method == components_method::automatic ? components_method::afforest : opt.method);
  if (!share.has_in()) return;
  EXPECT_EQ(verify_components<Id>(w, share, result.label), std::nullopt) << g.name << setting;
}

// The same draws on every rank, and thus the same collective calls.
void find_at_random(world& w, const plain_graph& g, random64& random) {
  components_options opt{.activity = support::random_activity(random, w.workers())};
  opt.method = static_cast<components_method>(random.below(3));
  auto in = support::in_edges::yes;
  if (opt.method != components_method::propagation && random.below(2) == 0) {
    in = support::in_edges::no;
  }
  const auto setting = ", " + std::string(name(opt.activity.mechanism)) + ", method " +
                       std::to_string(static_cast<int>(opt.method)) +
                       (in == support::in_edges::no ? ", no in-rows" : "");
  if (random.below(2) == 0) {
    find_and_judge<std::uint32_t>(w, g, in, opt, setting);
  } else {
    find_and_judge<std::uint64_t>(w, g, in, opt, setting);
  }
}

class Components : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Components, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Components, AreRightOnCornerGraphs) {
  GetParam().run([](world& w) {
    random64 random(1);
    for (const auto& g : support::corner_graphs()) find_at_random(w, g, random);
  });
}

TEST_P(Components, AreRightOnRandomGraphs) {
  const int graphs = GetParam().simulated() ? 30 : 8;
  GetParam().run([&](world& w) {
    random64 random(2);
    for (int i = 0; i < graphs; ++i) {
      const auto g = support::random_graph(random());
      find_at_random(w, g, random);
    }
  });
}

TEST_P(Components, AreRightWithTinyBuffersAndATinyFilter) {
  GetParam().run(
      [](world& w) {
        random64 random(3);
        for (int i = 0; i < 6; ++i) {
          const auto g = support::random_graph(random());
          find_at_random(w, g, random);
        }
      },
      {.coalesce_bytes = 16, .coalesce_age_ns = 0, .pending_bytes = 100, .filter_entries = 2});
}

// Many chunks per worker, so that workers join each other's trees; most vertices are skipped,
// and the smallest ones join their component last, so that every label changes at the end.
TEST_P(Components, AreRightWhereMostVerticesAreSkipped) {
  random64 random(4);
  plain_graph g{"large random graph with tails", 20'000, false, {}};
  for (int i = 0; i < 40'000; ++i) {
    g.edges.push_back({100 + random.below(18'000), 100 + random.below(18'000)});
  }
  for (std::uint64_t v = 0; v < 99; ++v) g.edges.push_back({v, v + 1});
  for (std::uint64_t v = 0; v < 99; v += 7) g.edges.push_back({v, 17'000 + v});
  for (std::uint64_t v = 18'200; v < 19'500; ++v) g.edges.push_back({v, v + 3});
  GetParam().run([&](world& w) {
    find_and_judge<std::uint32_t>(w, g, support::in_edges::no, {}, " undirected");
    auto directed = g;
    directed.directed = true;
    find_and_judge<std::uint32_t>(w, directed, support::in_edges::yes, {}, " in-rows");
    find_and_judge<std::uint32_t>(w, directed, support::in_edges::no, {}, " no in-rows");
  });
}

TEST(ComponentsOptions, RefuseWhatCannotBeRight) {
  const auto g = support::one_way_path(4);
  const auto without_in = support::share_of<std::uint32_t>(g, 0, 1, support::in_edges::no);
  world one, two(2);
  const components_options propagation{.method = components_method::propagation};
  EXPECT_THROW(static_cast<void>(components(one, without_in, propagation)), contract_violation);
  EXPECT_EQ(components(one, without_in).num_components, 1u);
  const auto with_in = support::share_of<std::uint32_t>(g, 0, 1);
  auto plain = propagation;
  plain.activity.mechanism = mechanism::plain;
  EXPECT_THROW(static_cast<void>(components(two, with_in, plain)), usage_error);
}

// Each rank's part is connected, but only edges of few vertices lead to the next part: vertices
// that the sample of a part may miss.
TEST_P(Components, AreRightWhereFewEdgesJoinLargeParts) {
  constexpr std::uint64_t n = 24'000, part = n / 8;
  plain_graph g{"binary trees", n, false, {}};
  for (std::uint64_t v = 0; v < n; ++v) {
    if (const auto i = v % part; i != 0) g.edges.push_back({v, v - i + (i - 1) / 2});
  }
  for (std::uint64_t i = 0; i < 6; ++i) g.edges.push_back({(i + 1) * part + 401, i * part + 97});
  GetParam().run([&](world& w) {
    find_and_judge<std::uint32_t>(w, g, support::in_edges::no, {}, " undirected");
    auto directed = g;
    directed.directed = true;
    find_and_judge<std::uint64_t>(w, directed, support::in_edges::yes, {}, " in-rows");
    find_and_judge<std::uint32_t>(w, directed, support::in_edges::no, {}, " no in-rows");
  });
}

// Over ranks as within a rank, most edges are not needed: here 8 times as many lead to other ranks.
TEST(ComponentsMessages, AreFewWhereMostVerticesAreInOneComponent) {
  plain_graph g{"random graph", 16'384, false, {}};
  random64 random(5);
  for (std::uint64_t i = 0; i < 8 * g.n; ++i)
    g.edges.push_back({random.below(g.n), random.below(g.n)});
  support::on_simulated_ranks(4, 1, 1, [&](world& w) {
    const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
    const auto sent = [&] { return w.sum(w.counters().total(obs::counter::messages_sent)); };
    const auto before = sent();
    EXPECT_GE(components(w, share).largest, g.n - 10);
    EXPECT_LE(sent() - before, g.n);
  });
}

// Each rank's sample names another component, and none has half of all vertices.
TEST(ComponentsMessages, ToCountThemNeedFewReductions) {
  constexpr rank_t ranks = 32;
  support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
    const auto label = [&](std::uint64_t v) { return static_cast<std::uint32_t>(v / 16 * 16); };
    const pgas::vertex_map<std::uint32_t> labels(w, {16 * ranks, ranks}, 0, label);
    const auto before = w.counters().total(obs::counter::collectives);
    const component_sizes<std::uint32_t> sizes(w, labels);
    EXPECT_EQ(sizes.num_components, ranks);
    EXPECT_EQ(sizes.largest, 16);
    EXPECT_LE(w.counters().total(obs::counter::collectives) - before, ranks);
  });
}

// Without joining the trees of labels it takes a round for almost every edge.
TEST(ComponentsRounds, AreFewOnALongPathWhoseVerticesAlternateBetweenRanks) {
  plain_graph g{"path in random order", 3000, false, {}};
  std::vector<std::uint64_t> order(g.n);
  std::iota(order.begin(), order.end(), 0);
  random64 random(7);
  for (std::uint64_t i = g.n - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  for (std::uint64_t i = 1; i < g.n; ++i) {
    if (i != g.n / 3) g.edges.push_back({order[i - 1], order[i]});
  }
  const auto expected = judged_labels(g);
  for (const rank_t ranks : {2, 3, 8}) {
    for (const auto method : {components_method::afforest, components_method::propagation}) {
      support::on_simulated_ranks(ranks, 2, 1, [&](world& w) {
        const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
        const auto result = components(w, share, {.method = method});
        EXPECT_LE(result.rounds, 150u);
        EXPECT_EQ(result.num_components, 2u);
        EXPECT_EQ(support::whole(w, result.label), expected);
      });
    }
  }
}

TEST_P(Components, FactsThatDoNotFollowFromTheLabelsAreFound) {
  GetParam().run([](world& w) {
    plain_graph g = support::path(300);
    g.n += 20;
    const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
    auto r = components(w, share);
    EXPECT_EQ(wrong_fact(w, share, r), std::nullopt);
    r.largest = 299;
    EXPECT_EQ(wrong_fact(w, share, r), "the result has largest 299, expected 300");
    ++r.num_components;
    EXPECT_EQ(wrong_fact(w, share, r), "the result has components 22, expected 21");
  });
}

TEST(ComponentsSimulated, ManySeedsGiveRightResults) {
  support::on_many_clusters({.num_seeds = 150}, [](world& w, std::uint64_t seed, random64& random) {
    find_at_random(w, support::random_graph(seed), random);
  });
}

// Runs change between one worker and all, and the mechanism with them.
TEST(ComponentsOfOneRank, AreRightSharedOrOnOneWorker) {
  const auto label_again_and_again = [](world& w) {
    plain_graph g{"pairs and paths", 6000, false, {}};
    random64 random(2);
    for (int i = 0; i < 4000; ++i) g.edges.push_back({random.below(g.n), random.below(g.n)});
    const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
    const auto expected = judged_labels(g);
    int plain = 0, others = 0;
    for (int i = 0; i < 40; ++i) {
      const auto result = components(w, share, {});
      EXPECT_EQ(support::whole(w, result.label), expected);
      ++(result.ran.mechanism == mechanism::plain ? plain : others);
    }
    EXPECT_GT(plain, 0);
    EXPECT_GT(others, 0);
    EXPECT_EQ(w.workers(), 2);
  };
  support::on_ranks(1, 2, label_again_and_again, {.small_work_alone = true});
}

}  // namespace
}  // namespace cairn::algo::components_test
