// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <cairn/traverse/direction.hpp>

namespace cairn::traverse {

bool pull_is_cheaper(const step_size& s) noexcept {
  if (s.frontier_edges == 0) return false;
  // A pushed edge costs a random access to its target, a pulled edge an access to a random bit.
  constexpr double bits_at_once = 32;
  const double cost_of_push = s.workers > 1 ? 1.8 : 1.2;
  const auto edges = static_cast<double>(s.edges), vertices = static_cast<double>(s.vertices);
  const auto pushed = static_cast<double>(s.frontier_edges);
  const auto looks = std::min(edges / vertices, edges / pushed);
  const auto pulled = static_cast<double>(s.waiting) * (looks + 1) + vertices / bits_at_once;
  return pulled < cost_of_push * pushed;
}

}  // namespace cairn::traverse
