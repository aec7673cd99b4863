// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <cairn/core/world.hpp>

namespace cairn::traverse {

/// Elements per chunk of a loop over n elements of about `ns_each` nanoseconds.
///
/// A loop shorter than a few dispatches is one chunk and stays on worker 0. Otherwise a chunk is
/// long enough to amortise its dispatch, and short enough that the workers finish together and
/// notice cancel() and messages soon.
[[nodiscard]] inline std::size_t chunk_of(const world& w, std::size_t n, double ns_each) {
  constexpr double worth_sharing = 4'000, least = 1'000, most = 100'000;  // ns
  // with several ranks: messages accumulate during a chunk
  constexpr std::size_t beside_ranks = 256;
  const auto elements = [&](double ns) { return static_cast<std::size_t>(ns / ns_each) + 1; };
  auto chunk = elements(most);
  if (w.workers() > 1 && static_cast<double>(n) * ns_each >= worth_sharing) {
    const auto share = n / (8 * static_cast<std::size_t>(w.workers()));
    chunk = std::clamp(share, elements(least), elements(most));
  }
  return w.size() > 1 ? std::min(chunk, beside_ranks) : chunk;
}

}  // namespace cairn::traverse
