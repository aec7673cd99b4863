// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/graph/csr.hpp>

namespace cairn::algo {

/// Whether nine of ten rows, in a sample of short stretches, are as long as the row before.
///
/// Work      O(1): about 1,024 rows
template <class Id>
[[nodiscard]] bool rows_of_equal_length(const graph::csr<Id>& rows) {
  constexpr std::size_t stretches = 32, length = 32;
  const auto offsets = rows.offsets();
  if (rows.num_rows() < stretches * length) return false;
  std::size_t equal = 0;
  for (std::size_t s = 0; s < stretches; ++s) {
    const auto at = offsets.subspan(rows.num_rows() / stretches * s, length + 1);
    for (std::size_t i = 1; i < length; ++i) {
      equal += at[i + 1] - at[i] == at[i] - at[i - 1] ? 1 : 0;
    }
  }
  return 10 * equal >= 9 * stretches * (length - 1);
}

}  // namespace cairn::algo
