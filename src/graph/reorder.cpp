// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include <cairn/graph/labels.hpp>
#include <cairn/task/parallel_for.hpp>

#include "rewrite.hpp"

namespace cairn::graph {
namespace {

constexpr std::size_t slice_vertices = std::size_t{1} << 16;
constexpr std::uint64_t hash_seed = 0x9e3779b97f4a7c15u;

/// Ends of edges by vertex, on all ranks. Collective.
std::vector<std::uint64_t> degrees_of(const exchange& ranks, const io::raw_edges& edges,
                                      std::uint64_t num_vertices) {
  std::vector<std::uint64_t> degrees(num_vertices);
  const auto count = [&](std::uint64_t v) {
    std::atomic_ref(degrees[v]).fetch_add(1, std::memory_order_relaxed);
  };
  task::parallel_for(ranks.workers(), edges.blocks.size(), 1,
                     [&](worker_t, std::size_t begin, std::size_t end) {
                       for (auto i = begin; i < end; ++i) {
                         std::visit(
                             [&](const auto& list) {
                               for (const auto& e : list) {
                                 count(e.source);
                                 count(e.target);
                               }
                             },
                             edges.blocks[i].edges);
                       }
                     });
  if (ranks.size() == 1) return degrees;
  for (std::size_t begin = 0; begin < degrees.size(); begin += slice_vertices) {
    const auto slice =
        std::span(degrees).subspan(begin, std::min(degrees.size() - begin, slice_vertices));
    const auto all = ranks.all_gather(std::span<const std::uint64_t>(slice));
    std::fill(slice.begin(), slice.end(), 0);
    for (const auto& theirs : all) {
      for (std::size_t i = 0; i < slice.size(); ++i) slice[i] += theirs[i];
    }
  }
  return degrees;
}

vertex_order by_degree(const exchange& ranks, const io::raw_edges& edges, const labels& names) {
  const auto degrees = degrees_of(ranks, edges, names.size());
  // Equal degrees stay in the order of the ids, whatever the vertices' order is now.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> keys(degrees.size());
  for (std::uint64_t v = 0; v < degrees.size(); ++v) {
    keys[v] = {~degrees[v], names.position_of(v)};
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint64_t> old(keys.size());
  for (std::uint64_t v = 0; v < keys.size(); ++v) old[v] = names.vertex_at(keys[v].second);
  return vertex_order::listed(old);
}

}  // namespace

labels reorder(const exchange& ranks, io::raw_edges& edges, const labels& names, order_kind kind,
               std::uint64_t seed) {
  vertex_order order;
  switch (kind) {
    case order_kind::file:
      return names;
    case order_kind::degree:
      order = by_degree(ranks, edges, names);
      break;
    case order_kind::hash:
      order = vertex_order::scrambled(names.size(), hash_seed);
      break;
    case order_kind::random:
      order = vertex_order::scrambled(names.size(), seed);
      break;
  }
  if (order.identity()) return names;
  detail::rewrite(ranks.workers(), edges, names.size(),
                  [&](std::uint64_t v) { return order.vertex_at(v); });
  return names.reordered(order);
}

}  // namespace cairn::graph
