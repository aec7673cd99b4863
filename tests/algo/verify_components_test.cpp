// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/algo/ref/components.hpp>
#include <cairn/algo/verify_components.hpp>
#include <cairn/base/contract.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo::verify_components_test {
namespace {

using support::plain_graph;
using verdict = std::optional<std::string>;

std::vector<std::uint64_t> right_labels(const plain_graph& g) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
  for (const auto& e : g.edges) edges.emplace_back(e.source, e.target);
  return ref::component_labels(g.n, edges);
}

template <class Id>
verdict verdict_on(world& w, const plain_graph& g, const std::vector<std::uint64_t>& labels) {
  const auto share = support::share_of<Id>(g, w.rank(), w.size());
  pgas::vertex_map<Id> mine(w, share.partition(), no_vertex<Id>);
  for (auto v = share.out().first(); v < share.out().last(); ++v) {
    mine.store(v, static_cast<Id>(labels[v]));
  }
  return verify_components(w, share, mine);
}

// A wrong that the random choose; may, rarely, be no wrong at all.
std::vector<std::uint64_t> make_wrong(const plain_graph& g, std::vector<std::uint64_t> labels,
                                      random64& random) {
  const auto v = random.below(g.n), u = random.below(g.n);
  switch (random.below(6)) {
    case 0:  // a vertex of its own
      labels[v] = v;
      break;
    case 1:  // any label, perhaps that of a component it is not in
      labels[v] = labels[u];
      break;
    case 2:  // no vertex
      labels[v] = g.n + random.below(3);
      break;
    case 3:  // none
      labels[v] = no_vertex<std::uint32_t>;
      break;
    case 4: {  // two components merged into one, under the smaller label
      const auto from = std::max(labels[v], labels[u]), to = std::min(labels[v], labels[u]);
      for (auto& l : labels) l = l == from ? to : l;
      break;
    }
    default: {  // a component with another of its vertices as its label
      const auto old = labels[v];
      for (auto& l : labels) l = l == old ? v : l;
    }
  }
  return labels;
}

class VerifyComponents : public ::testing::TestWithParam<support::place> {};

INSTANTIATE_TEST_SUITE_P(Everywhere, VerifyComponents, ::testing::ValuesIn(support::all_places()),
                         support::place_name);

TEST_P(VerifyComponents, AcceptsWhatIsRightAndNothingElse) {
  const int wrongs = GetParam().simulated() ? 200 : 40;
  GetParam().run([&](world& w) {
    random64 random(1);
    int caught = 0;
    for (int i = 0; i < wrongs; ++i) {
      const auto g = support::random_graph(random(), 40);
      const auto right = right_labels(g);
      EXPECT_EQ(verdict_on<std::uint32_t>(w, g, right), std::nullopt) << g.name;
      const auto wrong = make_wrong(g, right, random);
      const auto said = i % 2 == 0 ? verdict_on<std::uint32_t>(w, g, wrong)
                                   : verdict_on<std::uint64_t>(w, g, wrong);
      EXPECT_EQ(said.has_value(), wrong != right) << g.name;
      caught += said ? 1 : 0;
      const auto all = w.all_gather_values<char>(said.value_or("none"));
      EXPECT_EQ(all.size(), said.value_or("none").size() * static_cast<std::size_t>(w.size()))
          << "not the same on every rank";
    }
    EXPECT_GT(caught, wrongs / 2);
  });
}

TEST(VerifyComponentsSentence, NamesTheRuleAndTheOffender) {
  const plain_graph g{"two pairs", 5, false, {{0, 1}, {3, 4}}};
  world w;
  const auto said = [&](const std::vector<std::uint64_t>& labels) {
    return verdict_on<std::uint32_t>(w, g, labels).value_or("nothing");
  };
  EXPECT_EQ(said({0, 0, 2, 3, 3}), "nothing");
  EXPECT_EQ(said({0, 0, 2, 4, 4}),
            "the label of vertex 3 is vertex 4, expected the smallest vertex of its component");
  EXPECT_EQ(said({0, 0, 2, 3, 9}),
            "the label of vertex 4 is no vertex, expected the smallest vertex of its component");
  EXPECT_EQ(said({0, 1, 2, 3, 3}),
            "the endpoints vertex 0 and vertex 1 of an edge have different labels");
  EXPECT_EQ(said({0, 0, 0, 3, 3}), "vertex 2 is not connected to its label, vertex 0");
  EXPECT_EQ(said({0, 0, 2, 0, 0}), "vertex 3 is not connected to its label, vertex 0");
}

TEST(VerifyComponentsSentence, NeedsInRowsOfADirectedGraph) {
  const auto g =
      support::share_of<std::uint32_t>(support::one_way_path(3), 0, 1, support::in_edges::no);
  world w;
  const pgas::vertex_map<std::uint32_t> labels(w, g.partition(), 0);
  EXPECT_THROW(static_cast<void>(verify_components(w, g, labels)), contract_violation);
}

}  // namespace
}  // namespace cairn::algo::verify_components_test
