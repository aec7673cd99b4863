// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <cairn/core/world.hpp>

namespace cairn::traverse {

/// Number of elements per chunk of a loop over n elements that take about `ns_each` nanoseconds
/// each.
///
/// A loop that takes less than a few dispatches is one chunk and runs on worker 0. Otherwise a
/// chunk is long enough to amortise its dispatch, and short enough that workers finish at about the
/// same time and react to cancel() and messages soon.
[[nodiscard]] inline std::size_t chunk_of(const world& w, std::size_t n, double ns_each) {
  constexpr double worth_sharing = 2'000, min_ns = 1'000, max_ns = 100'000;  // ns
  constexpr std::size_t max_with_ranks = 256;  // messages accumulate during a chunk
  const auto elements = [&](double ns) { return static_cast<std::size_t>(ns / ns_each) + 1; };
  auto chunk = elements(max_ns);
  if (w.workers() > 1 && static_cast<double>(n) * ns_each >= worth_sharing) {
    const auto share = n / (8 * static_cast<std::size_t>(w.workers()));
    chunk = std::clamp(share, elements(min_ns), elements(max_ns));
  }
  return w.size() > 1 ? std::min(chunk, max_with_ranks) : chunk;
}

}  // namespace cairn::traverse
