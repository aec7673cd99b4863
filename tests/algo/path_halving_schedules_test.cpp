// SPDX-License-Identifier: Apache-2.0
//
// Workers that merge trees and then let every vertex point at its root, while they shorten each
// other's paths, in schedules drawn from seeds, over memory as weak as C++ allows.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>

#include <support/schedules.hpp>
#include <support/stepper.hpp>

#include "algo/path_halving.hpp"

namespace cairn::algo::path_halving_schedules_test {
namespace {

using support::stepped;
using support::stepper;

constexpr std::size_t num_workers = 3;
constexpr std::uint32_t n = 20;
constexpr auto relaxed = std::memory_order_relaxed;

enum class replacing { if_unchanged, in_any_case, if_it_was_unchanged };
enum class ending { correct, stuck, no_root };

/// The parents of the vertices from `first` on: another rank has the others.
class stepped_parents {
 public:
  stepped_parents(const std::vector<std::uint32_t>& initial, std::uint32_t first, replacing how)
      : first_(first), how_(how) {
    for (std::uint32_t v = 0; v < n; ++v) words_[v].emplace(initial[v]);
  }
  [[nodiscard]] bool owns(std::uint32_t v) const { return v >= first_; }
  [[nodiscard]] std::uint32_t load(std::uint32_t v) const { return words_[v]->load(relaxed); }
  void store(std::uint32_t v, std::uint32_t p) const { words_[v]->store(p, relaxed); }
  bool exchange(std::uint32_t v, std::uint32_t seen, std::uint32_t by) const {
    return words_[v]->compare_exchange_strong(seen, by, relaxed);
  }
  [[nodiscard]] std::uint32_t newest(std::uint32_t v) const { return words_[v]->newest(); }
  [[nodiscard]] replacing how() const { return how_; }

 private:
  std::uint32_t first_;
  replacing how_;
  mutable std::array<std::optional<stepped<std::uint32_t>>, n> words_;
};

void replace_parent(const stepped_parents& parent, std::uint32_t v, std::uint32_t seen,
                    std::uint32_t by) {
  if (parent.how() == replacing::if_unchanged) {
    parent.exchange(v, seen, by);
  } else if (parent.how() == replacing::in_any_case || parent.load(v) == seen) {
    parent.store(v, by);
  }
}

/// A forest in which parents are smaller, edges along which it is merged, and which worker lets a
/// vertex point at its root.
struct plan {
  std::uint32_t first = 0;
  std::vector<std::uint32_t> parent;
  std::array<std::vector<std::pair<std::uint32_t, std::uint32_t>>, num_workers> edges;

  std::array<std::size_t, n> worker_of;

  explicit plan(random64 draw) : parent(n) {
    const auto below = [&draw](std::uint64_t bound) {
      return static_cast<std::uint32_t>(draw.below(bound));
    };
    first = draw.below(2) == 0 ? 0 : below(3);
    const bool paths = draw.below(2) == 0;
    for (std::uint32_t v = 1; v < n; ++v) {
      const bool root = draw.below(10) == 0;
      parent[v] = root ? v : paths ? v - 1 : below(v);
    }
    for (auto& of : edges) {
      of.resize(below(3));
      for (auto& e : of) e = {below(n), below(n)};
    }
    for (auto& k : worker_of) k = draw.below(num_workers);
  }
  /// The root of each vertex after all merges. Trees of the other rank are not merged.
  [[nodiscard]] std::vector<std::uint32_t> roots() const {
    auto root = parent;
    for (std::uint32_t v = 0; v < n; ++v) root[v] = v < first ? v : root[root[v]];
    for (const auto& of : edges) {
      for (const auto& [u, v] : of) {
        const auto a = std::max(root[u], root[v]), c = std::min(root[u], root[v]);
        if (c >= first) std::ranges::replace(root, a, c);
      }
    }
    return root;
  }
};

class rank_of_workers {
 public:
  explicit rank_of_workers(stepper& s) : stepper_(s) {}

  ending play(std::uint64_t seed, replacing how) {
    const plan p{random64(seed).stream(0)};
    bool all_found = true;
    std::vector<std::function<void()>> bodies;
    for (std::size_t k = 0; k < num_workers; ++k) {
      bodies.emplace_back([&, k] {
        for (const auto& [u, v] : p.edges[k]) merge(u, v);
        merged_->fetch_add(1, std::memory_order_acq_rel);
        while (merged_->load(std::memory_order_acquire) < num_workers && !stepper_.stalled()) {
        }
        for (std::uint32_t v = p.first; v < n; ++v) {
          if (p.worker_of[v] == k) parents_->store(v, climb_in(*parents_, v));
        }
      });
    }
    const auto prepare = [&] {
      parents_.emplace(p.parent, p.first, how);
      merged_.emplace();
    };
    stepper_.play(seed, prepare, bodies);
    const auto roots = p.roots();
    for (auto v = p.first; v < n; ++v) all_found &= parents_->newest(v) == roots[v];
    return stepper_.stalled() ? ending::stuck : all_found ? ending::correct : ending::no_root;
  }

 private:
  // As join_trees() and merge_trees. That one also checks that the smaller root is still one;
  // without it more can happen.
  void merge(std::uint32_t u, std::uint32_t v) {
    while (!stepper_.stalled()) {
      u = climb_in(*parents_, u);
      v = climb_in(*parents_, v);
      const auto a = std::max(u, v), c = std::min(u, v);
      if (a == c || !parents_->owns(c) || parents_->exchange(a, a, c)) return;
    }
  }

  stepper& stepper_;
  std::optional<stepped_parents> parents_;
  std::optional<stepped<std::size_t>> merged_;
};

TEST(PathHalving, EverySchedule) {
  stepper steps(num_workers);
  rank_of_workers rank(steps);
  support::expect_every_schedule(ending::correct, [&](std::uint64_t seed) {
    return rank.play(seed, replacing::if_unchanged);
  });
}

std::uint64_t caught(replacing how) {
  stepper steps(num_workers);
  rank_of_workers rank(steps);
  return support::num_caught(ending::correct,
                             [&](std::uint64_t seed) { return rank.play(seed, how); });
}
constexpr auto many = support::num_twin_schedules / 1000;

TEST(PathHalvingTwin, ThatReplacesInAnyCaseIsCaught) {
  EXPECT_GT(caught(replacing::in_any_case), many);
}
TEST(PathHalvingTwin, ThatReplacesInTwoStepsIsCaught) {
  EXPECT_GT(caught(replacing::if_it_was_unchanged), many);
}

}  // namespace
}  // namespace cairn::algo::path_halving_schedules_test
