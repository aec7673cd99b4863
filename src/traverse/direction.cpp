// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cairn/traverse/direction.hpp>

namespace cairn::traverse {

bool pull_is_cheaper(const superstep_size& s) noexcept {
  if (s.frontier_edges == 0 || s.waiting == 0) return false;
  // The unit is one random access to a bit, the cost of a pulled edge. A pushed edge costs a random
  // access to its target, and a target that it reaches an entry in a list. A waiting vertex costs
  // accesses to its element and its row.
  constexpr double cost_of_push = 2.4, cost_of_target = 1.2, cost_of_vertex = 2, bits_at_once = 32;
  const auto edges = static_cast<double>(s.edges), vertices = static_cast<double>(s.vertices);
  const auto pushed = static_cast<double>(s.frontier_edges);
  const auto visited = std::min(edges / vertices, edges / pushed);  // per waiting vertex
  const auto waiting = static_cast<double>(s.waiting);
  const auto reached = waiting * std::min(1.0, pushed / vertices);  // by a push
  const auto pull = waiting * (visited + cost_of_vertex) + vertices / bits_at_once;
  return pull < cost_of_push * pushed + cost_of_target * reached;
}

}  // namespace cairn::traverse
