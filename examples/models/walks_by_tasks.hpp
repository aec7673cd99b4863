// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/am/parallel_for.hpp>
#include <cairn/base/random.hpp>

#include "global_graph.hpp"

namespace by_tasks {

/// Random walks over global arrays, which draw as cairn::algo::walk does.
struct walks {
  global_graph graph;
  global_array<std::uint64_t> visits;
  std::uint64_t walkers, length, key;
};

inline task<> follow(cairn::world& world, std::uint64_t begin, std::uint64_t end, walks x) {
  auto& memory = global_memory::of(world);
  const auto rows = memory.view(x.graph.rows);
  const auto targets = memory.view(x.graph.targets);
  const auto visits = memory.view(x.visits);
  auto visiting = co_await memory.operations();
  for (auto i = begin; i < end; ++i) {
    auto draws = cairn::random64(x.key).stream(i);
    auto v = draws.below(rows.size());
    visits.add(v, 1, visiting);
    for (std::uint64_t step = 0; step < x.length; ++step) {
      const auto edges = co_await rows.get(v);
      if (edges.degree == 0) break;
      v = co_await targets.get(edges.first + draws.below(edges.degree));
      visits.add(v, 1, visiting);
    }
    co_await visiting.wait();
  }
}

/// A task of one rank; the walkers are tasks of all.
inline task<> walk(cairn::world* world, walks x, std::size_t tasks) {
  const cairn::am::loop_options one_by_one{.chunk = 1, .tasks = tasks};
  co_await world->parallel_for<&follow>(x.walkers, one_by_one, x);
}

}  // namespace by_tasks
