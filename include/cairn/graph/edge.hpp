// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>

namespace cairn::graph {

/// A directed edge, or one of the two orientations of an undirected edge.
template <class Id>
struct edge {
  Id source;
  Id target;

  friend constexpr bool operator==(const edge&, const edge&) = default;
  friend constexpr auto operator<=>(const edge&, const edge&) = default;
};

/// An edge of a row with its weight beside its target, so that both share a cache line.
template <class Id, class Weight>
struct weighted_edge {
  Id target;
  Weight weight;

  friend constexpr auto operator<=>(const weighted_edge&, const weighted_edge&) = default;
};

}  // namespace cairn::graph
