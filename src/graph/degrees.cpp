// SPDX-License-Identifier: Apache-2.0
#include "degrees.hpp"

#include <algorithm>
#include <atomic>
#include <span>

#include <cairn/core/world.hpp>

#include "graph/for_each_edge.hpp"

namespace cairn::graph::detail {
namespace {

// A simulated cluster holds a few slices for each rank.
constexpr std::size_t slice_vertices = std::size_t{1} << 14;

}  // namespace

std::vector<std::uint64_t> degrees_of(world& w, const io::raw_edges& edges,
                                      std::uint64_t num_vertices, direction arcs) {
  std::vector<std::uint64_t> degrees(num_vertices);
  const auto count = [&](std::uint64_t v) {
    std::atomic_ref(degrees[v]).fetch_add(1, std::memory_order_relaxed);
  };
  for_each_edge(w.pool(), edges, [&](const auto& e) {
    if (arcs != direction::in) count(e.source);
    if (arcs != direction::out) count(e.target);
  });
  if (w.size() == 1) return degrees;
  for (std::size_t begin = 0; begin < degrees.size(); begin += slice_vertices) {
    w.sum_each(std::span(degrees).subspan(begin, std::min(degrees.size() - begin, slice_vertices)));
  }
  return degrees;
}

}  // namespace cairn::graph::detail
