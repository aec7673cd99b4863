// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>
#include <cairn/pgas/global_view.hpp>

namespace by_tasks {

using vertex = std::uint32_t;
using cairn::pgas::global_array;
using cairn::pgas::global_memory;
using cairn::task::task;

/// Where the targets of a vertex's edges are.
struct row {
  std::uint64_t first, degree;
};

/// A graph in global arrays: a value that may travel as an argument of a task.
struct global_graph {
  global_array<row> rows;
  global_array<vertex> targets;
};

inline task<> store_rows(global_memory* memory, global_graph to,
                         const cairn::graph::csr<vertex>* own, std::uint64_t first_edge) {
  std::vector<row> rows;
  const auto begin = own->offsets().front();
  for (auto v = own->first(); v < own->last(); ++v) {
    rows.push_back({first_edge + own->offsets()[v - own->first()] - begin, own->degree(v)});
  }
  const auto targets = own->targets().subspan(begin, own->num_edges());
  co_await memory->view(to.rows).put(own->first(), std::span<const row>(rows));
  co_await memory->view(to.targets).put(first_edge, targets);
}

/// Copies the rows of all ranks. Collective.
inline global_graph copy_of(global_memory& memory, const cairn::graph::dist_csr<vertex>& g) {
  auto& world = memory.owning_world();
  const auto mine = g.out().num_edges(), all = world.sum(mine);
  std::uint64_t before = 0;
  const auto of_ranks = world.all_gather(mine);
  for (cairn::rank_t r = 0; r < world.rank(); ++r) before += of_ranks[static_cast<std::size_t>(r)];
  const global_graph to{memory.collective_alloc<row>(g.num_vertices()),
                        memory.collective_alloc<vertex>(all)};
  world.run(store_rows(&memory, to, &g.out(), before));
  world.barrier();
  return to;
}

}  // namespace by_tasks
