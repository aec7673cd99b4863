// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <variant>

#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/task/parallel_for.hpp>

namespace cairn::graph {

/// Calls f(e) for each edge of a block, an edge<std::uint32_t> or an edge<std::uint64_t>.
template <class F>
void for_each_edge(const io::edge_block& block, const F& f) {
  std::visit(
      [&](const auto& edges) {
        for (const auto& e : edges) f(e);
      },
      block.edges);
}

/// The same for the edges of all blocks, with all workers.
template <class F>
void for_each_edge(task::pool& workers, const io::raw_edges& edges, const F& f) {
  task::parallel_for(workers, {.elements = edges.blocks.size(), .chunk = 1},
                     [&](worker_t, std::size_t begin, std::size_t end) {
                       for (auto i = begin; i < end; ++i) for_each_edge(edges.blocks[i], f);
                     });
}

}  // namespace cairn::graph
