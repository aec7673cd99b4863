// SPDX-License-Identifier: Apache-2.0
// What holds for every algorithm of the registry.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <cairn/algo/algorithm.hpp>

#include <support/any_algorithm.hpp>
#include <support/on_ranks.hpp>
#include <support/places.hpp>

namespace cairn::algo::algorithm_test {
namespace {

class Algorithms : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, Algorithms, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(Algorithms, AreRightOnCornerGraphs) {
  GetParam().run([](world& w) {
    random64 random(1);
    for (const auto* const a : algorithms()) {
      for (auto& g : support::corner_graphs()) {
        EXPECT_EQ(support::any_run(w, *a, std::move(g), random).judge(), "");
      }
    }
  });
}

TEST_P(Algorithms, AreRightOnRandomGraphs) {
  const int graphs = support::num_random_graphs(GetParam().simulated() ? 40 : 8);
  GetParam().run([&](world& w) {
    random64 random(2);
    for (int i = 0; i < graphs; ++i) {
      const auto g =
          random.below(4) == 0 ? support::two_halves(random) : support::random_graph(random());
      for (const auto* const a : algorithms()) {
        EXPECT_EQ(support::any_run(w, *a, g, random).judge(), "");
      }
    }
  });
}

// Graph, options and every order in which packets arrive and workers run depend on the seed.
TEST(AlgorithmSeeds, AllGiveRightResultsOnSimulatedRanks) {
  for (std::uint64_t seed = 1; seed <= support::num_seeds(20); ++seed) {
    const auto ranks = static_cast<rank_t>(1 + seed % 5);
    support::on_simulated_ranks(ranks, 1 + static_cast<int>(seed / 5 % 3), seed, [&](world& w) {
      random64 random(seed);
      const auto g = support::random_graph(random());
      for (const auto* const a : algorithms()) {
        EXPECT_EQ(support::any_run(w, *a, g, random).judge(), "") << "seed " << seed;
      }
    });
  }
}

// A judge or verifier that any result passes proves nothing.
TEST(AlgorithmJudges, CatchWrongColumns) {
  support::on_simulated_ranks(2, 1, 1, [](world& w) {
    for (const auto* const a : algorithms()) {
      random64 random(3);
      support::any_run run(w, *a, support::grid(4, 5), random);
      ASSERT_EQ(run.judge(), "");
      for (const auto& [name, values] : run.output().integers) {
        auto wrong = run.output();
        wrong.integers[name][7] += 1'000;
        EXPECT_EQ(a->check_against_reference(run.input(), run.given(), wrong).empty(),
                  name == "source_side")
            << a->info().name << " " << name;
      }
      for (const auto& [name, values] : run.output().real) {
        auto wrong = run.output();
        wrong.real[name][7] += 1;
        EXPECT_NE(a->check_against_reference(run.input(), run.given(), wrong), "")
            << a->info().name << " " << name;
      }
    }
  });
}

TEST(AlgorithmJudges, CatchWrongFacts) {
  support::on_simulated_ranks(2, 1, 1, [](world& w) {
    for (const auto* const a : algorithms()) {
      random64 random(4);
      support::any_run run(w, *a, support::grid(4, 5), random);
      ASSERT_EQ(run.judge(), "");
      auto wrong = run.output();
      for (const auto* const fact : {"weight", "edges", "value", "total"}) {
        if (wrong.numbers.contains(fact)) wrong.numbers[fact] += 1;
      }
      if (wrong.numbers.contains("connected")) wrong.numbers["connected"] = 0;
      const bool by_facts = run.output().integers.empty() || a->info().name == "maxflow";
      if (by_facts && run.output().real.empty()) {
        EXPECT_NE(a->check_against_reference(run.input(), run.given(), wrong), "")
            << a->info().name;
      }
    }
  });
}

TEST(AlgorithmSettings, DecideTheMechanismThatAProgramLeavesOpen) {
  random64 random(5);
  const auto g = support::weigh(support::grid(4, 5), support::weights::whole, 0, random);
  for (const auto* const asked : {"locks", "one-lock"}) {
    support::on_ranks(2, 2,
                      [&](world& w) {
                        const graph::any_graph graph = support::share_of<std::uint32_t>(
                            g, w.rank(), pgas::partition(g.graph.n, w.size()));
                        for (const auto* const a : algorithms()) {
                          if (!a->without_operators({}, w).empty()) continue;
                          const auto bound = a->bind(w, graph, {}, 1);
                          const auto run = bound->prepare({.verify = true});
                          const auto found = run->run();
                          EXPECT_EQ(activity::name(found->ran().mechanism), asked)
                              << a->info().name;
                          EXPECT_EQ(found->verify(), std::nullopt) << a->info().name;
                        }
                      },
                      {.mechanism = asked});
  }
}

// Maximum flow also runs operators of one cell, which stm does not serve.
TEST(AlgorithmSettings, DecideNothingForAuxiliaryOperators) {
  random64 random(6);
  const auto g = support::weigh(support::grid(4, 5), support::weights::whole, 0, random);
  support::on_ranks(2, 2,
                    [&](world& w) {
                      const graph::any_graph graph = support::share_of<std::uint32_t>(
                          g, w.rank(), pgas::partition(g.graph.n, w.size()));
                      for (const auto* const a : algorithms()) {
                        if (!a->info().several_cells) continue;
                        const auto bound = a->bind(w, graph, {}, 1);
                        const auto run = bound->prepare({.verify = true});
                        const auto found = run->run();
                        EXPECT_EQ(activity::name(found->ran().mechanism), "stm") << a->info().name;
                        EXPECT_EQ(found->verify(), std::nullopt) << a->info().name;
                      }
                    },
                    {.mechanism = "stm"});
}

TEST(AlgorithmRegistry, NamesAndColumnsAreUnique) {
  std::set<std::string_view> names, columns;
  for (const auto* const a : algorithms()) {
    EXPECT_TRUE(names.insert(a->info().name).second) << a->info().name;
    for (const auto& c : a->columns()) EXPECT_TRUE(columns.insert(c.name).second) << c.name;
    for (const auto used : a->info().verify_options) {
      bool known = false;
      for (const auto& o : a->options()) known = known || o.name == used;
      EXPECT_TRUE(known) << a->info().name << " " << used;
    }
  }
}

TEST(AlgorithmOptions, ThatCannotBeReadAreRefused) {
  for (const auto* const a : algorithms()) {
    for (const auto& o : a->options()) {
      if (o.type == "ID") continue;
      EXPECT_THROW(a->check_options({{std::string(o.name), "nonsense"}}), usage_error)
          << a->info().name << " " << o.name;
    }
  }
}

}  // namespace
}  // namespace cairn::algo::algorithm_test
