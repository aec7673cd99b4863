// SPDX-License-Identifier: Apache-2.0
#include "degrees.hpp"

#include <algorithm>
#include <atomic>
#include <span>

#include <cairn/core/world.hpp>
#include <cairn/task/parallel_for.hpp>

#include "graph/gather.hpp"

namespace cairn::graph::detail {
namespace {

constexpr std::size_t slice_vertices = std::size_t{1} << 16;

}  // namespace

std::vector<std::uint64_t> degrees_of(world& w, const io::raw_edges& edges,
                                      std::uint64_t num_vertices, direction arcs) {
  std::vector<std::uint64_t> degrees(num_vertices);
  const auto count = [&](std::uint64_t v) {
    std::atomic_ref(degrees[v]).fetch_add(1, std::memory_order_relaxed);
  };
  task::parallel_for(w.pool(), {.elements = edges.blocks.size(), .chunk = 1},
                     [&](worker_t, std::size_t begin, std::size_t end) {
                       for (auto i = begin; i < end; ++i) {
                         std::visit(
                             [&](const auto& list) {
                               for (const auto& e : list) {
                                 if (arcs != direction::in) count(e.source);
                                 if (arcs != direction::out) count(e.target);
                               }
                             },
                             edges.blocks[i].edges);
                       }
                     });
  if (w.size() == 1) return degrees;
  for (std::size_t begin = 0; begin < degrees.size(); begin += slice_vertices) {
    const auto slice =
        std::span(degrees).subspan(begin, std::min(degrees.size() - begin, slice_vertices));
    const auto all = gather_lists(w, std::span<const std::uint64_t>(slice));
    std::fill(slice.begin(), slice.end(), 0);
    for (const auto& theirs : all) {
      for (std::size_t i = 0; i < slice.size(); ++i) slice[i] += theirs[i];
    }
  }
  return degrees;
}

}  // namespace cairn::graph::detail
