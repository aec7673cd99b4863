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
};

/// Visits of random walkers by definition, one walker after the other. A walker starts at a vertex
/// and follows at most `length` arcs, until it is at a vertex that no arc leaves.
///
/// arcs       an undirected edge in both directions, a self-loop once
/// draws_of   draws_of(walker) returns a function: its call with `bound` is the walker's next draw
///            from [0, bound). Draw 0 is the start. Each further one is the place of the followed
///            arc among the arcs of the same source, which are ordered by target.
template <class DrawsOf>
walk_counts random_walks(std::uint64_t num_vertices,
                         const std::vector<std::pair<std::uint64_t, std::uint64_t>>& arcs,
                         std::uint64_t walkers, std::uint64_t length, DrawsOf draws_of) {
  std::vector<std::vector<std::uint64_t>> targets(num_vertices);
  for (const auto& [source, target] : arcs) targets[source].push_back(target);
  for (auto& list : targets) std::sort(list.begin(), list.end());
  walk_counts counts{std::vector<std::uint64_t>(num_vertices, 0)};
  for (std::uint64_t i = 0; i < walkers; ++i) {
    auto draw = draws_of(i);
    std::uint64_t v = draw(num_vertices), taken = 0;
    ++counts.visits[v];
    while (taken < length && !targets[v].empty()) {
      v = targets[v][draw(targets[v].size())];
      ++counts.visits[v];
      ++taken;
    }
    counts.steps += taken;
    counts.ended_early += taken < length ? 1 : 0;
  }
  return counts;
}

}  // namespace cairn::algo::ref
