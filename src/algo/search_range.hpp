// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include <cairn/algo/sssp.hpp>
#include <cairn/traverse/weighted_rows.hpp>

#include "algo/weights.hpp"

namespace cairn::algo {

/// The largest weight that is at most x.
template <class Distance>
[[nodiscard]] weight_of<Distance> weight_within(Distance x) {
  constexpr auto max_weight = traverse::no_weight<weight_of<Distance>>;
  if constexpr (std::is_integral_v<Distance>) {
    return static_cast<weight_of<Distance>>(std::min(x, static_cast<Distance>(max_weight)));
  } else {
    return std::min(x, max_weight);
  }
}

/// Which edges of an entry to relax.
///
/// from      edges with larger weights than this
/// to        without `radius`: the largest weight; with `radius`: the largest distance of a target
/// radius    at most `to`, or `to` + 1 for integers; all edges of entries at this distance or
///           further are relaxed
template <class Distance>
struct search_range {
  weight_of<Distance> from;
  Distance to;
  std::optional<Distance> radius = {};

  /// The largest weight of these edges, for an entry at this distance.
  [[nodiscard]] weight_of<Distance> max_weight(Distance at) const {
    if (!radius) return weight_within(to);
    return weight_within(at < *radius ? to - at : unreached<Distance>);
  }
};

}  // namespace cairn::algo
