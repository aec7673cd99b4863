// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <cairn/core/world.hpp>
#include <cairn/graph/labels.hpp>
#include <cairn/graph/memory.hpp>

#include "degrees.hpp"
#include "rewrite.hpp"

namespace cairn::graph {
namespace {

constexpr std::uint64_t hash_seed = 0x9e3779b97f4a7c15u;

// Beside what building needs later: the degrees, the keys and the order itself.
constexpr std::uint64_t sorting_bytes_per_vertex = 40;

vertex_order by_degree(world& w, const io::raw_edges& edges, const labels& names) {
  const auto limit = std::numeric_limits<std::uint64_t>::max() / sorting_bytes_per_vertex;
  expect_memory_for(w, std::min(names.size(), limit) * sorting_bytes_per_vertex,
                    (edges.declared_at.empty() ? "" : edges.declared_at + ": ") + "ordering " +
                        std::to_string(names.size()) + " vertices by degree");
  const auto degrees = detail::degrees_of(w, edges, names.size(), detail::direction::both);
  // Equal degrees are ordered by id, whatever the current order of the vertices.
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

labels reorder(world& w, io::raw_edges& edges, const labels& names, order_kind kind,
               std::uint64_t seed) {
  vertex_order order;
  switch (kind) {
    case order_kind::file:
      return names;
    case order_kind::degree:
      order = by_degree(w, edges, names);
      break;
    case order_kind::hash:
      order = vertex_order::scrambled({.size = names.size(), .seed = hash_seed});
      break;
    case order_kind::random:
      order = vertex_order::scrambled({.size = names.size(), .seed = seed});
      break;
  }
  if (order.identity()) return names;
  detail::rewrite(w.pool(), edges, names.size(),
                  [&](std::uint64_t v) { return order.vertex_at(v); });
  return names.reordered(order);
}

}  // namespace cairn::graph
