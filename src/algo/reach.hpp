// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/algo/sssp.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

#include "algo/dead_ends.hpp"

namespace cairn::algo {

struct reach_count {
  std::uint64_t vertices = 0, edges = 0;
  std::uint64_t relaxed_edges = 0;  // except those of dead ends
};

/// The number of this rank's vertices that a search reached, and of their edges.
///
/// ends      vertices that the search did not expand, except the source; nullptr: none
template <class Id, class Distance>
[[nodiscard]] reach_count count_reach(world& w, const graph::csr<Id>& out, std::uint64_t source,
                                      const dead_ends* ends,
                                      const pgas::vertex_map<Distance>& distance) {
  task::per_worker<reach_count> found(w.workers());
  const dead_ends::view skipped(ends);
  traverse::for_own_ranges(w, out, [&](worker_t k, std::uint64_t v, std::uint64_t last) {
    auto mine = found[k];
    for (; v < last; ++v) {
      if (distance.load(v) == unreached<Distance>) continue;
      ++mine.vertices;
      mine.edges += out.degree(v);
      if (v == source || !skipped[v]) mine.relaxed_edges += out.degree(v);
    }
    found[k] = mine;
  });
  reach_count all;
  for (const auto& k : found) {
    all.vertices += k.value.vertices;
    all.edges += k.value.edges;
    all.relaxed_edges += k.value.relaxed_edges;
  }
  return all;
}

}  // namespace cairn::algo
