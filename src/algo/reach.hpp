// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/algo/sssp.hpp>

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
[[nodiscard]] reach_count count_reach(const graph::csr<Id>& out, std::uint64_t source,
                                      const dead_ends* ends,
                                      const pgas::vertex_map<Distance>& distance) {
  reach_count found;
  const dead_ends::view skipped(ends);
  for (auto v = out.first(); v < out.last(); ++v) {
    if (distance.load(v) == unreached<Distance>) continue;
    ++found.vertices;
    found.edges += out.degree(v);
    if (v == source || !skipped[v]) found.relaxed_edges += out.degree(v);
  }
  return found;
}

}  // namespace cairn::algo
