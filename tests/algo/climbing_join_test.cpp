// SPDX-License-Identifier: Apache-2.0
//
// Workers of several ranks that join trees along edges and by messages, in schedules drawn from
// seeds, over memory as weak as C++ allows.
#include "algo/climbing_join.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>

#include <support/schedules.hpp>
#include <support/stepper.hpp>

namespace cairn::algo::climbing_join_test {
namespace {

using support::stepped;
using support::stepper;

constexpr std::size_t num_workers = 4;
constexpr std::uint32_t n = 14;
constexpr auto relaxed = std::memory_order_relaxed;

enum class replacing { if_unchanged, in_any_case };
enum class ending { correct, stuck, not_joined, hooked_twice, below_no_root };

using words = std::array<std::optional<stepped<std::uint32_t>>, n>;

/// What one rank sees of all parents.
struct stepped_parents {
  words& of;
  std::uint32_t first, last;
  replacing how;

  [[nodiscard]] bool owns(std::uint32_t v) const { return v >= first && v < last; }
  [[nodiscard]] std::uint32_t load(std::uint32_t v) const {
    EXPECT_TRUE(owns(v));
    return of[v]->load(relaxed);
  }
  void store(std::uint32_t v, std::uint32_t p) const { of[v]->store(p, relaxed); }
};

bool replace_parent(const stepped_parents& parent, std::uint32_t v, std::uint32_t seen,
                    std::uint32_t by) {
  if (parent.how == replacing::if_unchanged) {
    return parent.of[v]->compare_exchange_strong(seen, by, relaxed);
  }
  parent.store(v, by);
  return true;
}

/// Blocks of vertices, trees of depth one within them, and edges of each worker, whose first ends
/// it owns.
struct plan {
  std::vector<std::uint32_t> first;  // of each rank, and the end
  std::vector<std::uint32_t> parent;
  std::array<std::size_t, num_workers> rank_of;
  std::array<std::vector<std::pair<std::uint32_t, std::uint32_t>>, num_workers> edges;

  explicit plan(random64 draw) : parent(n) {
    const auto below = [&draw](std::uint64_t bound) {
      return static_cast<std::uint32_t>(draw.below(bound));
    };
    const auto ranks = 1 + below(3);
    first.assign(ranks + 1, 0);
    for (std::uint32_t r = 1; r < ranks; ++r) first[r] = below(n);
    first[ranks] = n;
    std::ranges::sort(first);
    std::iota(parent.begin(), parent.end(), 0u);
    for (std::uint32_t v = 0; v < n; ++v) {
      const auto own = first[owner(v)];
      const auto root = own + below(v - own + 1);
      if (parent[root] == root) parent[v] = root;
    }
    for (std::size_t k = 0; k < num_workers; ++k) {
      rank_of[k] = k % ranks;
      const auto begin = first[rank_of[k]], size = first[rank_of[k] + 1] - begin;
      if (size == 0) continue;
      edges[k].resize(below(5));
      for (auto& e : edges[k]) e = {begin + below(size), below(n)};
    }
  }
  [[nodiscard]] std::size_t owner(std::uint32_t v) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(first, v) - first.begin() - 1);
  }
  [[nodiscard]] std::vector<std::uint32_t> roots() const {
    auto root = parent;
    for (const auto& of : edges) {
      for (const auto& [u, v] : of) {
        const auto a = std::max(root[u], root[v]), b = std::min(root[u], root[v]);
        std::ranges::replace(root, a, b);
      }
    }
    return root;
  }
};

ending play(stepper& steps, std::uint64_t seed, replacing how) {
  const plan p{random64(seed).stream(0)};
  words parents;
  std::optional<stepped<std::size_t>> left;  // edges and messages
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> inbox(p.first.size() - 1);
  std::vector<int> hooked(n);
  std::vector<std::function<void()>> bodies;
  for (std::size_t k = 0; k < num_workers; ++k) {
    bodies.emplace_back([&, k] {
      const auto r = p.rank_of[k];
      const stepped_parents mine{parents, p.first[r], p.first[r + 1], how};
      const auto join = [&](const std::pair<std::uint32_t, std::uint32_t>& e) {
        join_in(
            mine, e.first, e.second, [&](std::uint32_t v) { ++hooked[v]; },
            [&](std::uint32_t v, std::uint32_t u) {
              left->fetch_add(1);
              inbox[p.owner(v)].emplace_back(v, u);
            });
        left->fetch_sub(1);
      };
      for (const auto& e : p.edges[k]) join(e);
      while (left->load() != 0 && !steps.stalled()) {
        if (inbox[r].empty()) continue;
        const auto next = inbox[r].back();
        inbox[r].pop_back();
        join(next);
      }
    });
  }
  std::size_t num_edges = 0;
  for (const auto& of : p.edges) num_edges += of.size();
  steps.play(
      seed,
      [&] {
        for (std::uint32_t v = 0; v < n; ++v) parents[v].emplace(p.parent[v]);
        left.emplace(num_edges);
      },
      bodies);
  if (steps.stalled()) return ending::stuck;
  const auto roots = p.roots();
  for (std::uint32_t v = 0; v < n; ++v) {
    const auto above = parents[v]->newest();
    auto root = above;
    while (parents[root]->newest() != root) root = parents[root]->newest();
    if (root != roots[v]) return ending::not_joined;
    if (hooked[v] != (p.parent[v] == v && above != v ? 1 : 0)) return ending::hooked_twice;
    const bool own = p.owner(above) == p.owner(v);
    if (own ? p.parent[above] != above : p.parent[v] != v) return ending::below_no_root;
  }
  return ending::correct;
}

TEST(ClimbingJoin, EverySchedule) {
  stepper steps(num_workers);
  support::expect_every_schedule(ending::correct, [&](std::uint64_t seed) {
    return play(steps, seed, replacing::if_unchanged);
  });
}

TEST(ClimbingJoinTwin, ThatReplacesInAnyCaseIsCaught) {
  stepper steps(num_workers);
  EXPECT_GT(support::num_caught(
                ending::correct,
                [&](std::uint64_t seed) { return play(steps, seed, replacing::in_any_case); }),
            support::num_twin_schedules / 1000);
}

}  // namespace
}  // namespace cairn::algo::climbing_join_test
