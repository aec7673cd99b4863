// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <cairn/am/parallel_for.hpp>

#include "global_graph.hpp"

namespace by_tasks {

/// Breadth-first search over global arrays. The queue has all vertices that were reached, in the
/// order of their levels.
struct search {
  global_graph graph;
  global_array<std::uint64_t> depths;  // 1 for the root, 0 if not reached
  global_array<vertex> queue;
  global_array<std::uint64_t> tail;  // of one element: the number of vertices in the queue
};

inline search search_of(global_memory& memory, const global_graph& g) {
  const auto n = g.rows.size();
  return {g, memory.collective_alloc<std::uint64_t>(n), memory.collective_alloc<vertex>(n),
          memory.collective_alloc<std::uint64_t>(1)};
}

/// Appends the neighbors of some vertices of the queue that have not been reached.
inline task<> expand(cairn::world& world, std::uint64_t begin, std::uint64_t end, search s,
                     std::uint64_t level, std::uint64_t depth) {
  auto& memory = global_memory::of(world);
  const auto queue = memory.view(s.queue), targets = memory.view(s.graph.targets);
  const auto depths = memory.view(s.depths);
  std::vector<vertex> row, found;
  for (auto i = level + begin; i < level + end; ++i) {
    const auto v = co_await queue.get(i);
    const auto edges = co_await memory.view(s.graph.rows).get(v);
    row.resize(edges.degree);
    co_await targets.get(edges.first, std::span(row));
    for (const auto u : row) {
      const auto before = co_await depths.compare_exchange(u, 0, depth);
      if (before == 0) found.push_back(u);
    }
  }
  if (found.empty()) co_return;
  const auto at = co_await memory.view(s.tail).fetch_add(0, found.size());
  co_await queue.put(at, std::span<const vertex>(found));
}

/// Returns the number of levels. A task of one rank; the tasks of expand() run on all.
inline task<std::uint64_t> bfs(cairn::world* world, search s, vertex root, std::size_t tasks) {
  auto& memory = global_memory::of(*world);
  const auto tail = memory.view(s.tail);
  co_await memory.view(s.depths).put(root, 1);
  co_await memory.view(s.queue).put(0, root);
  co_await tail.put(0, 1);
  std::uint64_t depth = 1, begin = 0;
  for (std::uint64_t end = 1; begin < end; ++depth) {
    const cairn::am::loop_options over{.tasks = tasks};
    co_await world->parallel_for<&expand>(end - begin, over, s, begin, depth + 1);
    begin = end;
    end = co_await tail.get(0);
  }
  co_return depth - 1;
}

}  // namespace by_tasks
