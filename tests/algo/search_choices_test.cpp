// SPDX-License-Identifier: Apache-2.0
#include "algo/search_choices.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include <cairn/algo/sssp.hpp>

#include <support/dist_graph.hpp>
#include <support/places.hpp>
#include <support/random_graphs.hpp>
#include <support/weighted_graph.hpp>

#include "algo/shortest_paths.hpp"

namespace cairn::algo::search_choices_test {
namespace {

constexpr std::uint64_t million = 1'000'000;

// The factor after searches that wasted so many of a million relaxations.
double after(std::initializer_list<std::uint64_t> wasted) {
  width_choice widths;
  for (const auto x : wasted) widths.report(million, x);
  return widths.factor();
}

TEST(WidthChoice, WidensAfterEachSearchThatWastedLittle) {
  EXPECT_EQ(after({}), 1);
  EXPECT_EQ(after({0}), 2);
  EXPECT_EQ(after({0, 14'999}), 4);
  EXPECT_EQ(after({0, 0, 0, 0, 0, 0}), 16);
}

TEST(WidthChoice, KeepsTheWidthThatWastedMore) {
  EXPECT_EQ(after({15'000}), 1);
  EXPECT_EQ(after({0, 15'000, 0}), 2);
  EXPECT_EQ(after({0, 39'999, 0}), 2);
}

TEST(WidthChoice, GoesBackFromAWidthThatWastedMuch) {
  EXPECT_EQ(after({0, 0, 40'000, 0}), 2);
  EXPECT_EQ(after({500'000, 0}), 1);
  EXPECT_EQ(after({0, 0, 0, 0, 500'000}), 8);
}

TEST(WidthChoice, LearnsUntilItIsSettled) {
  width_choice widths;
  EXPECT_TRUE(widths.learns_from(million));
  widths.report(million, 0);
  EXPECT_TRUE(widths.learns_from(million));
  widths.report(million, million / 2);
  EXPECT_FALSE(widths.learns_from(million));
}

TEST(WidthChoice, IgnoresShortSearches) {
  width_choice widths;
  widths.report(9'999, 0);
  widths.report(9'999, 9'999);
  EXPECT_EQ(widths.factor(), 1);
  EXPECT_TRUE(widths.learns_from(million));
}

support::weighted_graph grid_of_ones(std::uint64_t side = 60) {
  support::weighted_graph g{support::grid(side, side), support::weights::whole, {}};
  for (const auto& e : g.graph.edges) g.edges.push_back({e.source, e.target, 1});
  return g;
}

double delta_of(const sssp_found& found) {
  return std::visit([](const auto& r) { return r.delta; }, found);
}

// All paths between two vertices of a grid without detours are equally long, so nothing is wasted.
TEST(SsspWidths, GrowOverSearchesThatWasteNothing) {
  world w;
  const auto g = support::share_of<std::uint32_t>(grid_of_ones(), 0, 1);
  const auto lengths = measure_lengths(w, g);
  ASSERT_NE(lengths.learned, nullptr);
  const auto search = [&](const sssp_options& opt) {
    const auto found = sssp(w, g, std::uint32_t{0}, opt, lengths);
    const auto& r = std::get<sssp_result<std::uint32_t>>(found);
    for (std::uint64_t v = 0; v < 3600; ++v) EXPECT_EQ(r.distance.load(v), v / 60 + v % 60);
    return delta_of(found);
  };
  const auto first = search({});
  EXPECT_EQ(first, lengths.delta);
  EXPECT_EQ(search({}), 2 * first);
  EXPECT_EQ(search({.delta = 3}), 3);
  EXPECT_EQ(search({}), 4 * first);
  EXPECT_EQ(search({.algorithm = sssp_method::delta}), lengths.delta);
}

TEST(SsspTables, AreTriedAfterFourSearches) {
  support::on_simulated_ranks(1, 2, 1, [](world& w) {
    const auto g = support::share_of<std::uint32_t>(grid_of_ones(), 0, 1);
    const auto lengths = measure_lengths(w, g);
    std::string all;
    for (int i = 0; i < 7; ++i) {
      const auto found = sssp(w, g, std::uint32_t{0}, {}, lengths);
      const auto& r = std::get<sssp_result<std::uint32_t>>(found);
      all += r.ran.why == own_tables ? 't' : 'a';
      EXPECT_EQ(r.distance.load(3599), 118u);
    }
    EXPECT_EQ(all, "aaaattt");
  });
}

// Fixed costs dominate their times.
TEST(SsspTables, AreNotTriedInShortSearches) {
  support::on_simulated_ranks(1, 2, 1, [](world& w) {
    const auto g = support::share_of<std::uint32_t>(grid_of_ones(10), 0, 1);
    const auto lengths = measure_lengths(w, g);
    for (int i = 0; i < 12; ++i) {
      const auto found = sssp(w, g, std::uint32_t{0}, {}, lengths);
      const auto& r = std::get<sssp_result<std::uint32_t>>(found);
      EXPECT_NE(r.ran.why, own_tables);
      EXPECT_EQ(r.distance.load(99), 18u);
    }
  });
}

TEST(SsspWidths, AreLearnedOnOneRankOnly) {
  support::on_simulated_ranks(2, 1, 1, [](world& w) {
    const auto g = support::share_of<std::uint32_t>(grid_of_ones(), w.rank(), w.size());
    EXPECT_EQ(measure_lengths(w, g).learned, nullptr);
  });
}

// 32 bits hold no distance beyond the third vertex. Only the first search tries them.
TEST(SearchChoices, DistancesThatNeed64BitsAreSearchedOnce) {
  world w;
  random64 random(1);
  auto g = support::weigh(support::one_way_path(10'000), support::weights::whole, 1, random);
  for (auto& e : g.edges) e.weight = 2e9;
  const auto share = support::share_of<std::uint32_t>(g, 0, 1);
  const auto lengths = measure_lengths(w, share);
  for (int i = 0; i < 2; ++i) {
    const auto before = w.counters().total(obs::counter::edges);
    const auto r = sssp(w, share, std::uint32_t{0}, {}, lengths);
    const auto edges = w.counters().total(obs::counter::edges) - before;
    const auto& found = std::get<sssp_result<std::uint64_t>>(r);
    EXPECT_EQ(found.distance.load(9'999), 9'999 * std::uint64_t{2'000'000'000});
    EXPECT_EQ(edges > found.relaxations, i == 0);
  }
  EXPECT_TRUE(lengths.learned->needs_64_bits);
}

}  // namespace
}  // namespace cairn::algo::search_choices_test
