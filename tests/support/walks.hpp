// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <cairn/algo/walk.hpp>
#include <cairn/core/world.hpp>

#include <support/dist_graph.hpp>
#include <support/random_graphs.hpp>

namespace cairn::support {

using counts = std::vector<std::uint64_t>;

/// The values of all vertices. Collective.
inline counts all_of(world& w, const pgas::vertex_map<std::uint64_t>& map) {
  return w.all_gather_values<std::uint64_t>(map.local());
}

/// The vertices of each walk. Collective.
template <class Id>
std::vector<counts> paths_of(world& w, const algo::walk_paths<Id>& mine) {
  const auto all = w.all_gather_values<Id>(mine.vertices);
  std::vector<counts> paths(all.size() / mine.row_size);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != no_vertex<Id>) paths[i / mine.row_size].push_back(all[i]);
  }
  return paths;
}

/// Visits of each vertex by walks on one rank of one worker.
inline counts visits_of_one(const plain_graph& g, const algo::walk_options& opt) {
  world w;
  return all_of(w, algo::walk(w, share_of<std::uint32_t>(g, 0, 1), opt).visits);
}

}  // namespace cairn::support
