// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/graph/io/raw_edges.hpp>
#include <cairn/task/parallel_for.hpp>

namespace cairn::graph::detail {

template <class To, class From, class VertexOf>
void rewrite_list(const std::vector<edge<From>>& from, std::vector<edge<To>>& to,
                  const VertexOf& vertex_of) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = {static_cast<To>(vertex_of(from[i].source)),
             static_cast<To>(vertex_of(from[i].target))};
  }
}

/// Maps the ids of a block by vertex_of and stores them as To.
template <class To, class VertexOf>
void rewrite_block(io::edge_block& block, const VertexOf& vertex_of) {
  if (auto* const same = std::get_if<std::vector<edge<To>>>(&block.edges)) {
    rewrite_list(*same, *same, vertex_of);
    return;
  }
  std::vector<edge<To>> to;
  std::visit(
      [&](const auto& from) {
        to.resize(from.size());
        rewrite_list(from, to, vertex_of);
      },
      block.edges);
  block.edges = std::move(to);
}

/// Maps all ids by vertex_of(id, block) and stores them in the width for num_vertices.
template <class VertexOf>
void rewrite_blocks(task::pool& workers, io::raw_edges& edges, std::uint64_t num_vertices,
                    const VertexOf& vertex_of) {
  const bool narrow = num_vertices < no_vertex<std::uint32_t>;
  task::parallel_for(workers, {.elements = edges.blocks.size(), .chunk = 1},
                     [&](worker_t, std::size_t begin, std::size_t end) {
                       for (auto i = begin; i < end; ++i) {
                         const auto of_block = [&](std::uint64_t id) { return vertex_of(id, i); };
                         if (narrow) {
                           rewrite_block<std::uint32_t>(edges.blocks[i], of_block);
                         } else {
                           rewrite_block<std::uint64_t>(edges.blocks[i], of_block);
                         }
                       }
                     });
}

/// rewrite_blocks with a mapping that does not depend on the block.
template <class VertexOf>
void rewrite(task::pool& workers, io::raw_edges& edges, std::uint64_t num_vertices,
             const VertexOf& vertex_of) {
  rewrite_blocks(workers, edges, num_vertices,
                 [&](std::uint64_t id, std::size_t) { return vertex_of(id); });
}

}  // namespace cairn::graph::detail
