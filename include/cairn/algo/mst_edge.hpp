// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cairn::algo {

/// An edge of a forest; source < target, but a loop of a file that is judged has equal ends.
template <class Id>
struct mst_edge {
  Id source, target;
  double weight;

  friend bool operator==(const mst_edge&, const mst_edge&) = default;
};

}  // namespace cairn::algo
