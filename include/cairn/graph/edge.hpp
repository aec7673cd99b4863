// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cairn::graph {

/// A directed edge, or one of the two orientations of an undirected edge.
template <class Id>
struct edge {
  Id source;
  Id target;

  friend constexpr bool operator==(const edge&, const edge&) = default;
  friend constexpr auto operator<=>(const edge&, const edge&) = default;
};

}  // namespace cairn::graph
