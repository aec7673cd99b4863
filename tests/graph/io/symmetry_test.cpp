// SPDX-License-Identifier: Apache-2.0
//
// Undirected .cairn files: their rows hold each edge at both its ends, or they are refused.
#include <algorithm>
#include <graph/io/balance.hpp>
#include <map>
#include <tuple>

#include <cairn/base/random.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/io/native.hpp>

#include <support/on_ranks.hpp>

#include "files.hpp"

namespace cairn::graph::io::symmetry_test {
namespace {

using test::folder;

struct entry {
  std::uint64_t source, target;
  double weight;

  friend auto operator<=>(const entry&, const entry&) = default;
};
using entries = std::vector<entry>;

entries both_ways(const entries& edges) {
  auto all = edges;
  for (const auto& e : edges) {
    if (e.source != e.target) all.push_back({e.target, e.source, e.weight});
  }
  return all;
}

bool symmetric(const entries& all) {
  std::map<entry, int> count;
  for (const auto& e : all) {
    ++count[e];
    --count[{e.target, e.source, e.weight}];
  }
  return std::all_of(count.begin(), count.end(), [](const auto& c) { return c.second == 0; });
}

enum class weighing { not_at_all, by_whole_numbers, by_real_numbers };

/// An undirected file of n vertices with these entries in its rows.
template <class Id>
void write_file(const std::string& path, std::uint64_t n, entries all, weighing kind,
                std::int64_t miscount = 0) {
  std::sort(all.begin(), all.end());
  std::vector<std::uint64_t> offsets(n + 1);
  std::vector<Id> targets;
  std::vector<std::int32_t> whole;
  std::vector<double> real;
  std::uint64_t loops = 0;
  for (const auto& e : all) {
    ++offsets[e.source + 1];
    targets.push_back(static_cast<Id>(e.target));
    whole.push_back(static_cast<std::int32_t>(e.weight));
    real.push_back(e.weight);
    loops += e.source == e.target ? 1 : 0;
  }
  for (std::uint64_t v = 0; v < n; ++v) offsets[v + 1] += offsets[v];
  const auto edges = (all.size() + loops) / 2 + static_cast<std::uint64_t>(miscount);
  native_graph g{false, edges, offsets, std::span<const Id>(targets), {}, {}};
  if (kind == weighing::by_whole_numbers) g.weights = std::span<const std::int32_t>(whole);
  if (kind == weighing::by_real_numbers) g.weights = std::span<const double>(real);
  const auto pool = task::make_threads({.workers = 1});
  write_native(*pool, path, g);
}

/// What is said of the file on so many ranks, which have to agree; empty if it is accepted.
std::string verdict(const std::string& path, rank_t ranks = 1) {
  std::string said;
  support::on_ranks(ranks, 2, [&](world& w) {
    std::string mine;
    try {
      static_cast<void>(read_native(w, path));
    } catch (const input_error& error) {
      mine = std::string(error.what()).substr(path.rfind('/') + 1);
    }
    const auto all = w.all_gather_values<char>(std::span<const char>(mine));
    EXPECT_EQ(all.size(), mine.size() * static_cast<std::size_t>(w.size()));
    if (w.rank() == 0) said = mine;
  });
  return said;
}

constexpr auto one_sided =
    "the graph is undirected, but this edge is not in its target's row, or has another weight "
    "there";

TEST(Symmetry, AnEdgeInTheRowOfOneOfItsEndsIsFound) {
  const folder dir;
  const auto path = dir / "g.cairn";
  const auto at = [&](std::uint64_t byte) {
    return "g.cairn: at byte " + std::to_string(byte) + ": " + one_sided;
  };
  const entries path_graph{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 3, 1}};
  for (const rank_t ranks : {1, 2, 3, 8}) {
    auto all = both_ways(path_graph);
    write_file<std::uint32_t>(path, 4, all, weighing::not_at_all);
    EXPECT_EQ(verdict(path, ranks), "");
    std::erase(all, entry{3, 2, 1});
    write_file<std::uint32_t>(path, 4, all, weighing::not_at_all);
    EXPECT_EQ(verdict(path, ranks), at(8192 + 4 * 4)) << "2 -> 3";
    all.push_back({3, 2, 2});
    write_file<std::uint32_t>(path, 4, all, weighing::not_at_all);
    EXPECT_EQ(verdict(path, ranks), "") << "there are no weights";
    write_file<std::uint32_t>(path, 4, all, weighing::by_whole_numbers);
    EXPECT_EQ(verdict(path, ranks), at(8192 + 4 * 4));
    write_file<std::uint32_t>(path, 4, all, weighing::by_real_numbers);
    EXPECT_EQ(verdict(path, ranks), at(8192 + 4 * 4));
  }
}

TEST(Symmetry, RowsOfEqualDegreesEitherWayAreNoProof) {
  const folder dir;
  const auto path = dir / "g.cairn";
  // Every vertex of a directed cycle has as many entries as there are of it.
  for (std::uint64_t n = 3; n < 60; ++n) {
    entries cycle;
    for (std::uint64_t v = 0; v < n; ++v) cycle.push_back({v, (v + 1) % n, 1});
    write_file<std::uint32_t>(path, n, cycle, weighing::not_at_all);
    EXPECT_NE(verdict(path), "") << n;
    write_file<std::uint32_t>(path, n, both_ways(cycle), weighing::by_whole_numbers);
    EXPECT_EQ(verdict(path), "") << n;
  }
}

TEST(Symmetry, OneEdgeSeveralTimesHasTheSameWeightsEitherWay) {
  const folder dir;
  const auto path = dir / "g.cairn";
  const auto said = [&](std::vector<double> there, std::vector<double> back) {
    entries all;
    for (const auto w : there) all.push_back({0, 1, w});
    for (const auto w : back) all.push_back({1, 0, w});
    write_file<std::uint32_t>(path, 2, all, weighing::by_real_numbers);
    return verdict(path);
  };
  EXPECT_EQ(said({1, 3}, {3, 1}), "");
  EXPECT_EQ(said({0.0, 3}, {3, -0.0}), "");
  EXPECT_NE(said({1, 3}, {2, 2}), "") << "the same sum";
  EXPECT_NE(said({1, 1, 3}, {1, 3, 3}), "") << "the same set";
  EXPECT_NE(said({1, 1}, {1}), "");
}

TEST(Symmetry, TheHeaderCountsTheEdges) {
  const folder dir;
  const auto path = dir / "g.cairn";
  const auto all = both_ways({{0, 1, 1}, {1, 2, 1}, {2, 2, 1}});
  write_file<std::uint32_t>(path, 3, all, weighing::not_at_all, 1);
  EXPECT_EQ(verdict(path, 2),
            "g.cairn: at byte 40: the header counts 4 edges, but the rows hold 3");
  write_file<std::uint32_t>(path, 3, all, weighing::not_at_all, -3);
  EXPECT_EQ(verdict(path, 2),
            "g.cairn: at byte 40: the header counts 0 edges, but the rows hold 3");
}

/// What all entries count.
template <class Id, class Weight>
std::uint64_t balance_of(const entries& all, const balance::key& key) {
  const balance b(key);
  std::uint64_t sum = 0;
  for (const auto& e : all) {
    const auto target = static_cast<Id>(e.target);
    const auto weight = static_cast<Weight>(e.weight);
    sum += b.of_row(static_cast<Id>(e.source), std::span<const Id>(&target, 1),
                    std::span<const Weight>(&weight, 1));
  }
  return sum;
}

template <class Id, class Weight>
void expect_right_balance(std::uint64_t seed) {
  random64 draw(seed);
  const balance::key key{draw(), draw()};
  const auto n = 2 + draw.below(6);
  const auto far = draw.below(2) == 0 ? 1 : 1 + draw.below((std::uint64_t{1} << 32) / n - 1);
  entries all;
  for (auto i = draw.below(12); i > 0; --i) {
    all.push_back({far * draw.below(n), far * draw.below(n), double(draw.below(3)) - 1});
  }
  if (draw.below(2) == 0) all = both_ways(all);
  EXPECT_EQ((balance_of<Id, Weight>(all, key) == 0), symmetric(all)) << "seed " << seed;
}

TEST(Balance, IsZeroOfSymmetricEntriesAlone) {
  for (std::uint64_t seed = 0; seed < 25'000; ++seed) {
    expect_right_balance<std::uint32_t, std::int32_t>(seed);
    expect_right_balance<std::uint32_t, double>(seed);
    expect_right_balance<std::uint64_t, std::int32_t>(seed);
    expect_right_balance<std::uint64_t, double>(seed);
  }
}

// Sums of hashes of the ends alone are 0 wherever as many entries leave a vertex as lead to it.
TEST(Balance, ATwinThatAddsWhereThisOneMultipliesIsCaught) {
  const entries cycle{{0, 1, 1}, {1, 2, 1}, {2, 0, 1}};
  std::uint64_t twin = 0;
  for (const auto& e : cycle) twin += mix64(e.target) - mix64(e.source);
  EXPECT_EQ(twin, 0u);
  EXPECT_NE((balance_of<std::uint32_t, std::int32_t>(cycle, {1, 2})), 0u);
}

}  // namespace
}  // namespace cairn::graph::io::symmetry_test
