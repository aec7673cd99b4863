// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <cairn/core/world.hpp>

namespace cairn::algo {

/// As std::sort, but stops when the call is cancelled. Called by worker 0, outside loops.
///
/// Throws    as pool::throw_if_interrupted; some elements may then be missing and others duplicated
template <class T, class Before>
void sort_interruptibly(world& w, std::vector<T>& all, Before before) {
  static_assert(std::is_trivially_copyable_v<T>, "an exception may leave copies behind");
  constexpr std::uint32_t between_checks = 1u << 16;  // comparisons: less than a millisecond
  std::uint32_t left = between_checks;
  std::sort(all.begin(), all.end(), [&](const T& a, const T& b) {
    if (--left == 0) {
      left = between_checks;
      w.pool().throw_if_interrupted();
    }
    return before(a, b);
  });
}

}  // namespace cairn::algo
