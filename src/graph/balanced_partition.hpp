// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/pgas/partition.hpp>

namespace cairn::graph::detail {

/// Blocks of vertices with about equal sums of vertices and edges.
///
/// before   before(v) is the number of entries in the rows of vertices below v; v <= n
/// Work     O(ranks log n)
template <class Before>
pgas::partition balanced_partition(std::uint64_t n, rank_t ranks, const Before& before) {
  const auto cost = [&](std::uint64_t v) { return before(v) + v; };
  const auto all = cost(n);
  std::vector<std::uint64_t> sizes;
  std::uint64_t first = 0;
  for (rank_t r = 0; r < ranks; ++r) {
    const auto next = static_cast<uint128_t>(all) * static_cast<std::uint64_t>(r + 1);
    const auto wanted = static_cast<std::uint64_t>(next / static_cast<std::uint64_t>(ranks));
    std::uint64_t low = first, high = n;
    while (low < high) {
      const auto middle = low + (high - low) / 2;
      if (cost(middle) < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    sizes.push_back(low - first);
    first = low;
  }
  return pgas::partition::listed(sizes);
}

}  // namespace cairn::graph::detail
