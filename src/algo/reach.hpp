// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/algo/sssp.hpp>

namespace cairn::algo {

struct reach_count {
  std::uint64_t vertices = 0, edges = 0;
};

/// The number of this rank's vertices that a search reached, and of their edges.
template <class Id, class Distance>
[[nodiscard]] reach_count count_reach(const graph::csr<Id>& out,
                                      const pgas::vertex_map<Distance>& distance) {
  reach_count found;
  for (auto v = out.first(); v < out.last(); ++v) {
    if (distance.load(v) == unreached<Distance>) continue;
    ++found.vertices;
    found.edges += out.degree(v);
  }
  return found;
}

}  // namespace cairn::algo
