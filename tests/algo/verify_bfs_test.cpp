// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/ref/bfs.hpp>
#include <cairn/algo/verify_bfs.hpp>
#include <cairn/base/contract.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>
#include <support/wrong_bfs.hpp>

namespace cairn::algo::verify_bfs_test {
namespace {

using support::bfs_tree;
using support::nobody;
using support::plain_graph;

template <class Id>
pgas::vertex_map<Id> share_of_values(world& w, const std::vector<std::uint64_t>& whole) {
  pgas::vertex_map<Id> map(w, {whole.size(), w.size()}, 0);
  for (std::size_t i = 0; i < map.local().size(); ++i) {
    const auto value = whole[map.first() + i];
    map.local()[i] = value >= nobody - 1 ? static_cast<Id>(no_vertex<Id> - (nobody - value))
                                         : static_cast<Id>(value);
  }
  return map;
}

struct verdicts {
  std::optional<std::string> parents, both, depths;
};

template <class Id>
verdicts judge(world& w, const graph::dist_csr<Id>& g, const bfs_tree& t) {
  const auto parent = share_of_values<Id>(w, t.parent), depth = share_of_values<Id>(w, t.depth);
  const auto root = static_cast<Id>(t.root);
  return {verify_bfs(w, g, root, parent), verify_bfs(w, g, root, parent, &depth),
          verify_bfs_depths(w, g, root, depth)};
}

verdicts judge_alone(const plain_graph& g, const bfs_tree& t) {
  world w;
  return judge(w, support::share_of<std::uint32_t>(g, 0, 1), t);
}

std::vector<plain_graph> test_graphs() {
  auto graphs = support::corner_graphs();
  for (std::uint64_t seed = 0; seed < 12; ++seed) graphs.push_back(support::random_graph(seed));
  return graphs;
}

// Every graph and every wrong at simulated places of few ranks, elsewhere a sample.
class VerifyBfs : public ::testing::TestWithParam<support::place> {
 protected:
  // Calls f(w, share, graph, right result) for the test graphs, from some of their roots.
  template <class Id, class F>
  void on_graphs(F&& f, const world_options& options = {}) {
    const auto graphs = test_graphs();
    const std::size_t stride = !GetParam().simulated() ? 4 : GetParam().ranks == 8 ? 3 : 1;
    GetParam().run(
        [&](world& w) {
          for (std::size_t i = 0; i < graphs.size(); i += stride) {
            const auto& g = graphs[i];
            const auto share = support::share_of<Id>(g, w.rank(), w.size(), support::in_edges::no);
            random64 random(i);
            const auto root = random.below(g.n);
            f(w, share, g, support::true_bfs(g, root, random));
          }
        },
        options);
  }

  template <class Id>
  void accepts_what_is_right(const world_options& options = {}) {
    on_graphs<Id>(
        [](world& w, const auto& share, const plain_graph& g, const bfs_tree& right) {
          const auto v = judge(w, share, right);
          EXPECT_EQ(v.parents, std::nullopt) << g.name;
          EXPECT_EQ(v.both, std::nullopt) << g.name;
          EXPECT_EQ(v.depths, std::nullopt) << g.name;
        },
        options);
  }

  template <class Id>
  void catches_every_wrong(bool sample = false, const world_options& options = {}) {
    sample |= !GetParam().simulated();
    const auto seeded_errors = support::all_seeded_errors();
    on_graphs<Id>(
        [&](world& w, const auto& share, const plain_graph& g, const bfs_tree& right) {
          for (std::size_t i = 0; i < seeded_errors.size(); ++i) {
            const auto& s = seeded_errors[i];
            if (sample && (i + g.n) % 3 != 0) continue;
            support::error_seeder error_seeder(g, right, right.root);
            auto wrong = right;
            if (!s.seed(error_seeder, wrong)) continue;
            const auto v = judge(w, share, wrong);
            EXPECT_TRUE(v.both) << g.name << ": " << s.name;
            EXPECT_TRUE(!s.wrongs_parents || v.parents) << g.name << ": " << s.name;
            EXPECT_TRUE(!s.wrongs_depths || v.depths) << g.name << ": " << s.name;
          }
        },
        options);
  }
};

INSTANTIATE_TEST_SUITE_P(Threads, VerifyBfs, ::testing::ValuesIn(support::ring_places()),
                         support::place_name);
INSTANTIATE_TEST_SUITE_P(Fibers, VerifyBfs, ::testing::ValuesIn(support::simulated_places()),
                         support::place_name);

TEST_P(VerifyBfs, AcceptsWhatIsRight) {
  accepts_what_is_right<std::uint32_t>();
  accepts_what_is_right<std::uint64_t>();
}

TEST_P(VerifyBfs, CatchesEverySeededWrong) { catches_every_wrong<std::uint32_t>(); }

TEST_P(VerifyBfs, CatchesEverySeededWrongOfWideIds) { catches_every_wrong<std::uint64_t>(); }

// Without a cache every edge is told; with a cache of two entries most entries are lost.
TEST_P(VerifyBfs, JudgesTheSameWhateverTheSenderRemembers) {
  for (const std::size_t entries : {0, 2}) {
    accepts_what_is_right<std::uint32_t>({.filter_entries = entries});
    catches_every_wrong<std::uint32_t>(true, {.filter_entries = entries});
  }
}

TEST_P(VerifyBfs, SaysTheSameOnEveryRank) {
  const auto seeded_errors = support::all_seeded_errors();
  on_graphs<std::uint32_t>([&](world& w, const auto& share, const plain_graph& g,
                               const bfs_tree& right) {
    support::error_seeder error_seeder(g, right, 0);
    auto wrong = right;
    if (!seeded_errors[error_seeder.random.below(seeded_errors.size())].seed(error_seeder, wrong))
      return;
    const auto v = judge(w, share, wrong);
    for (const auto& text : {v.parents, v.both, v.depths}) {
      const auto said = text.value_or("");
      for (const auto& part : w.all_gather_bytes(std::as_bytes(std::span(said)))) {
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(part.data()), part.size()), said);
      }
    }
  });
}

// The judge of algo/ref shares no code with the verifier; of the same wrongs it sees as many.
TEST(SeededWrongs, AreWrongToTheSerialJudgeToo) {
  for (const auto& g : test_graphs()) {
    ref::edge_list edges;
    for (const auto& e : g.edges) {
      edges.emplace_back(e.source, e.target);
      if (!g.directed) edges.emplace_back(e.target, e.source);
    }
    random64 random(1);
    const auto right = support::true_bfs(g, random.below(g.n), random);
    const auto depths = ref::bfs_depths(g.n, edges, right.root);
    EXPECT_EQ(right.depth, depths) << g.name;
    EXPECT_EQ(ref::bfs_violation(g.n, edges, right.root, right.parent), "") << g.name;
    for (const auto& s : support::all_seeded_errors()) {
      support::error_seeder error_seeder(g, right, 0);
      auto wrong = right;
      if (!s.seed(error_seeder, wrong)) continue;
      const bool parents_wrong = !ref::bfs_violation(g.n, edges, right.root, wrong.parent).empty();
      EXPECT_TRUE(!s.wrongs_parents || parents_wrong) << g.name << ": " << s.name;
      EXPECT_TRUE(!s.wrongs_depths || wrong.depth != depths) << g.name << ": " << s.name;
    }
  }
}

// Every seeded_error must find a graph to harm, or the tests above promise nothing.
TEST(SeededWrongs, AllFindAGraphToHarm) {
  for (const auto& s : support::all_seeded_errors()) {
    int harmed = 0;
    for (const auto& g : test_graphs()) {
      random64 random(0);
      const auto right = support::true_bfs(g, 0, random);
      support::error_seeder error_seeder(g, right, 0);
      auto wrong = right;
      harmed += s.seed(error_seeder, wrong) ? 1 : 0;
    }
    EXPECT_GE(harmed, 5) << s.name;
  }
}

//   0 - 1 - 2 - 3 - 4    with 1 - 3    and apart 5 - 6
const plain_graph small{"small", 7, false, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {1, 3}, {5, 6}}};
const bfs_tree right_small{0, {0, 0, 1, 1, 3, nobody, nobody}, {0, 1, 2, 2, 3, nobody, nobody}};

using changes = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

std::string said_of(const changes& parents, const changes& depths = {}) {
  auto wrong = right_small;
  for (const auto& [v, p] : parents) wrong.parent[v] = p;
  for (const auto& [v, d] : depths) wrong.depth[v] = d;
  const auto v = judge_alone(small, wrong);
  return (depths.empty() ? v.parents : v.both).value_or("nothing");
}

TEST(VerifyBfsSentence, NamesTheRuleAndTheOffender) {
  const std::string rule_1 = "rule 1 (parents lead to the root, without cycles): ";
  const std::string rule_2 = "rule 2 (a tree edge leads from one depth to the next): ";
  const std::string rule_3 = "rule 3 (no edge leads down by more than one depth): ";
  const std::string rule_4 = "rule 4 (the tree spans what the root reaches): ";
  const std::string rule_5 = "rule 5 (a tree edge is an edge of the graph): ";
  EXPECT_EQ(said_of({}), "nothing");
  EXPECT_EQ(said_of({{2, 3}, {3, 2}}), rule_1 + "the parents of vertex 2 never lead to the root 0");
  EXPECT_EQ(said_of({{2, 3}, {3, 2}}, {{0, 0}}),
            rule_1 + "the parents of vertex 2 never lead to the root 0");
  EXPECT_EQ(said_of({{0, 1}}), rule_1 + "the root 0 is not its own parent");
  EXPECT_EQ(said_of({{5, 5}}), rule_1 + "vertex 5 is a root besides the root 0");
  EXPECT_EQ(said_of({{6, 5}}), rule_1 + "vertex 6 has parent 5, which is not reached");
  EXPECT_EQ(said_of({{4, 3}}, {{4, 4}}), rule_2 + "vertex 4 has depth 4, its parent 3 has depth 2");
  EXPECT_EQ(said_of({}, {{0, 3}}), rule_2 + "the root 0 has depth 3, not 0");
  EXPECT_EQ(said_of({{3, 2}}), rule_3 + "edge 1 -> 3 leads from depth 1 to depth 3");
  EXPECT_EQ(said_of({{4, nobody}}),
            rule_4 + "vertex 4 is not reached, but edge 3 -> 4 leads to it");
  EXPECT_EQ(said_of({{0, nobody}}), rule_4 + "the root 0 itself is not reached");
  EXPECT_EQ(said_of({{4, nobody}}, {{4, 3}}), rule_4 + "vertex 4 has depth 3, but no parent");
  EXPECT_EQ(said_of({}, {{4, nobody}}), rule_4 + "vertex 4 has a parent, but no depth");
  EXPECT_EQ(said_of({{4, 1}}), rule_5 + "vertex 4 has parent 1, but there is no edge 1 -> 4");
  EXPECT_EQ(said_of({{4, 7}}), rule_5 + "vertex 4 has parent 7, which is no vertex of the graph");
}

TEST(VerifyBfsSentence, OfDepthsAloneNamesTheRuleAndTheOffender) {
  const auto said = [](std::uint64_t v, std::uint64_t d) {
    auto wrong = right_small;
    wrong.depth[v] = d;
    return judge_alone(small, wrong).depths.value_or("nothing");
  };
  EXPECT_EQ(said(0, 0), "nothing");
  EXPECT_EQ(said(4, 2),
            "rule 2 (a tree edge leads from one depth to the next): vertex 4 has depth 2, but has "
            "no edge from a vertex whose depth is one less");
  EXPECT_EQ(said(5, 0),
            "rule 1 (parents lead to the root, without cycles): vertex 5 is a root besides the "
            "root 0");
}

TEST(VerifyBfsSentence, UsesTheIdsOfTheInput) {
  const auto rows = support::share_of<std::uint32_t>(support::path(3), 0, 1);
  graph::dist_csr<std::uint32_t> g(
      rows.partition(), false, 2,
      graph::csr<std::uint32_t>(0, graph::array(rows.out().offsets(), nullptr),
                                graph::array(rows.out().targets(), nullptr)),
      graph::labels(std::vector<std::uint64_t>{10, 20, 30}));
  world w;
  const auto parent = share_of_values<std::uint32_t>(w, {0, 0, 0});
  EXPECT_EQ(verify_bfs(w, g, 0u, parent),
            "rule 5 (a tree edge is an edge of the graph): vertex 30 has parent 10, but there is "
            "no edge 10 -> 30");
}

// A path so long that the depths need many rounds of doubling, whole and closed to a ring.
TEST(VerifyBfs, FollowsLongPathsAndLeavesLongCycles) {
  const auto g = support::path(1000);
  random64 random(0);
  auto t = support::true_bfs(g, 0, random);
  EXPECT_EQ(judge_alone(g, t).parents, std::nullopt);
  std::iota(t.parent.begin() + 1, t.parent.end() - 1, 2);  // each points up, the last one back
  EXPECT_EQ(judge_alone(g, t).parents,
            "rule 1 (parents lead to the root, without cycles): the parents of vertex 1 never lead "
            "to the root 0");
}

TEST(VerifyBfs, RefusesARootThatIsNoVertex) {
  world w;
  const auto g = support::share_of<std::uint32_t>(support::path(3), 0, 1);
  const auto map = share_of_values<std::uint32_t>(w, {0, 0, 1});
  EXPECT_THROW(static_cast<void>(verify_bfs(w, g, 3u, map)), contract_violation);
  EXPECT_THROW(static_cast<void>(verify_bfs_depths(w, g, 3u, map)), contract_violation);
}

TEST_P(VerifyBfs, FindsTheRootThatAResultNames) {
  on_graphs<std::uint64_t>([](world& w, const auto& share, const plain_graph&,
                              const bfs_tree& right) {
    const auto by_parents =
        root_of_parents(w, share, share_of_values<std::uint64_t>(w, right.parent));
    EXPECT_EQ(by_parents.vertex, right.root);
    EXPECT_EQ(by_parents.problem, "");
    const auto by_depths = root_of_depths(w, share, share_of_values<std::uint64_t>(w, right.depth));
    EXPECT_EQ(by_depths.vertex, right.root);
    EXPECT_EQ(by_depths.problem, "");
  });
}

TEST_P(VerifyBfs, SaysWhyAResultNamesNoRoot) {
  GetParam().run([](world& w) {
    const auto g = support::share_of<std::uint32_t>(support::path(6), w.rank(), w.size());
    const auto problem = [&](const std::vector<std::uint64_t>& whole) {
      const auto map = share_of_values<std::uint32_t>(w, whole);
      return root_of_parents(w, g, map).problem + " | " + root_of_depths(w, g, map).problem;
    };
    EXPECT_EQ(problem({1, 2, 3, 4, 5, nobody}),
              "the result names no root: no vertex is its own parent | "
              "the result names no root: no vertex has depth 0");
    EXPECT_EQ(problem({1, 0, 0, 3, 3, 5}),
              "the result names 2 roots: vertex 3, vertex 5 each is its own parent | "
              "the result names 2 roots: vertex 1, vertex 2 each has depth 0");
    EXPECT_EQ(problem({0, 1, 2, 3, 0, 0}),
              "the result names 4 roots: vertex 0, vertex 1, ... each is its own parent | "
              "the result names 3 roots: vertex 0, vertex 4, ... each has depth 0");
  });
}

}  // namespace
}  // namespace cairn::algo::verify_bfs_test
