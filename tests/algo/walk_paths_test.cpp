// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include <cairn/algo/walk.hpp>
#include <cairn/base/random.hpp>

#include <support/dist_graph.hpp>
#include <support/on_ranks.hpp>
#include <support/random_graphs.hpp>

namespace cairn::algo::walk_paths_test {
namespace {

/// Whether a row follows edges, and ends early only where no edge leaves.
bool is_walk(const auto& neighbors, std::span<const std::uint32_t> row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto& next = neighbors[row[i]];
    if (i + 1 == row.size()) return true;
    if (row[i + 1] == no_vertex<std::uint32_t>) return next.empty();
    if (std::ranges::find(next, row[i + 1]) == next.end()) return false;
  }
  return true;
}

TEST(WalkPaths, AreWrongIfAStepIsNoEdgeOrTheyEndEarly) {
  for (const rank_t ranks : {1, 3}) {
    int num_wrong = 0;
    support::on_simulated_ranks(ranks, 1, 1, [&](world& w) {
      random64 draw(5);
      for (int i = 0; i < 60; ++i) {
        const auto g = support::random_graph(draw());
        const auto share = support::share_of<std::uint32_t>(g, w.rank(), w.size());
        auto r = walk(w, share, {g.n, 6, draw(), 1, 1, true});
        auto& paths = *r.paths;
        const auto right = verify_walk_paths(w, share, paths);
        EXPECT_EQ(right.wrong, std::nullopt) << g.name;
        EXPECT_TRUE(std::ranges::equal(right.visits.local(), r.visits.local())) << g.name;
        const auto walker = draw.below(g.n), step = draw.below(paths.row_size);
        const bool shorten = draw.below(2) == 0;
        const auto x = static_cast<std::uint32_t>(draw.below(g.n));
        bool wrong = false;
        if (paths.walkers.owner(walker) == w.rank()) {
          const auto row = std::span(paths.vertices)
                               .subspan((walker - paths.first) * paths.row_size, paths.row_size);
          const auto end = std::ranges::find(row, no_vertex<std::uint32_t>);
          const auto length = static_cast<std::size_t>(end - row.begin());
          if (!shorten) row[std::min(step, length - 1)] = x;
          if (shorten && length > 1) row[length - 1] = no_vertex<std::uint32_t>;
          wrong = !is_walk(g.neighbors(), row);
        }
        wrong = w.any(wrong);
        const auto said = verify_walk_paths(w, share, paths).wrong;
        EXPECT_EQ(said.has_value(), wrong) << g.name;
        if (said) {
          EXPECT_TRUE(said->starts_with("walk " + std::to_string(walker + 1) + " "));
        }
        num_wrong += wrong;
      }
    });
    EXPECT_GT(num_wrong, 10 * ranks);
  }
}

}  // namespace
}  // namespace cairn::algo::walk_paths_test
