// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cairn/traverse/direction.hpp>

namespace cairn::traverse {

bool pull_is_cheaper(const step_size& s) noexcept {
  if (s.frontier_edges == 0) return false;
  // Unit: an access to a random bit, for an edge that is pulled. An edge that is pushed costs a
  // random access to its target, and a vertex that waits a look at its element and its row.
  constexpr double cost_of_push = 3.5, cost_of_vertex = 3, bits_at_once = 32;
  const auto edges = static_cast<double>(s.edges), vertices = static_cast<double>(s.vertices);
  const auto pushed = static_cast<double>(s.frontier_edges);
  const auto looks = std::min(edges / vertices, edges / pushed);
  const auto pulled =
      static_cast<double>(s.waiting) * (looks + cost_of_vertex) + vertices / bits_at_once;
  return pulled < cost_of_push * pushed;
}

}  // namespace cairn::traverse
