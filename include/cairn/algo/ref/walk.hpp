// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace cairn::algo::ref {

struct walk_counts {
  std::vector<std::uint64_t> visits;
  std::uint64_t steps = 0, ended_early = 0;
  std::vector<std::vector<std::uint64_t>> paths;  ///< the vertices of each walker
};

/// The p and q of node2vec.
struct walk_bias {
  double p = 1, q = 1;
};

/// The target of a second-order step from v of a walker that came from t, by rejection. An arc to t
/// has weight 1/p, an arc to a target of t has weight 1, any other arc has weight 1/q. If not all
/// arcs lead to t, each attempt draws a number and returns to t if the number is below the share of
/// these arcs. Otherwise it draws one of the other arcs and a second number. It takes the arc if
/// the number is below the arc's weight divided by max(1, 1/q).
template <class Draws>
std::uint64_t second_order_step(const std::vector<std::vector<std::uint64_t>>& targets,
                                std::uint64_t t, std::uint64_t v, const walk_bias& bias,
                                Draws& draws) {
  std::vector<std::uint64_t> others;
  for (const auto x : targets[v]) {
    if (x != t) others.push_back(x);
  }
  if (others.empty()) return t;
  const auto back = static_cast<double>(targets[v].size() - others.size());
  const auto max_weight = bias.q < 1 ? 1 / bias.q : 1.0;
  for (;;) {
    if (draws.uniform() <
        back / (back + static_cast<double>(others.size()) * (bias.p * max_weight))) {
      return t;
    }
    const auto x = others[draws.below(others.size())];
    const bool near = std::find(targets[t].begin(), targets[t].end(), x) != targets[t].end();
    const auto chance = near ? (bias.q < 1 ? bias.q : 1.0) : (bias.q < 1 ? 1.0 : 1 / bias.q);
    if (draws.uniform() < chance) return x;
  }
}

/// Visits and paths of random walkers by definition, one walker after the other. A walker starts at
/// a vertex and follows at most `length` arcs, until it is at a vertex that no arc leaves.
///
/// arcs       an undirected edge in both directions, a self-loop once
/// draws_of   draws_of(walker) returns the walker's draws: below(bound) is the next one from
///            [0, bound), uniform() the next one from [0, 1). The first draw is the start. The draw
///            of a first step, or of any step if p and q are 1, is the position of the followed arc
///            among the arcs of the same source, ordered by target.
template <class DrawsOf>
walk_counts random_walks(std::uint64_t num_vertices,
                         const std::vector<std::pair<std::uint64_t, std::uint64_t>>& arcs,
                         std::uint64_t walkers, std::uint64_t length, DrawsOf draws_of,
                         const walk_bias& bias = {}) {
  std::vector<std::vector<std::uint64_t>> targets(num_vertices);
  for (const auto& [source, target] : arcs) targets[source].push_back(target);
  for (auto& list : targets) std::sort(list.begin(), list.end());
  walk_counts counts;
  counts.visits.assign(num_vertices, 0);
  for (std::uint64_t i = 0; i < walkers; ++i) {
    auto draws = draws_of(i);
    std::vector<std::uint64_t> path{draws.below(num_vertices)};
    while (path.size() <= length && !targets[path.back()].empty()) {
      const auto v = path.back();
      const bool first_order = path.size() == 1 || (bias.p == 1 && bias.q == 1);
      path.push_back(first_order
                         ? targets[v][draws.below(targets[v].size())]
                         : second_order_step(targets, path[path.size() - 2], v, bias, draws));
    }
    for (const auto v : path) ++counts.visits[v];
    counts.steps += path.size() - 1;
    counts.ended_early += path.size() <= length ? 1 : 0;
    counts.paths.push_back(std::move(path));
  }
  return counts;
}

}  // namespace cairn::algo::ref
