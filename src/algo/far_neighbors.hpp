// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/graph/csr.hpp>

namespace cairn::algo {

/// The share of entries, in a sample of rows, that are at least `near` ids from their row; 0
/// without entries.
///
/// Work      the entries of about 1,024 rows
template <class Id>
[[nodiscard]] double share_of_far_neighbors(const graph::csr<Id>& rows, std::uint64_t near) {
  constexpr std::uint64_t sample = 1024;
  std::uint64_t edges = 0, far = 0;
  for (auto v = rows.first(); v < rows.last(); v += rows.num_rows() / sample + 1) {
    for (const Id u : rows.neighbors(v)) {
      far += (u > v ? u - v : v - u) >= near ? 1 : 0;
      ++edges;
    }
  }
  return edges == 0 ? 0 : static_cast<double>(far) / static_cast<double>(edges);
}

}  // namespace cairn::algo
