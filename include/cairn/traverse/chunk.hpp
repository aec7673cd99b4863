// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <cairn/core/world.hpp>

namespace cairn::traverse {

/// Elements per chunk of a loop over n elements of about `ns_each` nanoseconds.
///
/// A loop that would take less than a few dispatches stays on worker 0: it is one chunk. Else a
/// chunk is long enough to be worth handing out, and short enough for the workers to end together
/// and for cancel() and messages to be noticed soon.
[[nodiscard]] inline std::size_t chunk_of(const world& w, std::size_t n, double ns_each) {
  constexpr double worth_sharing = 4'000, least = 1'000, most = 100'000;  // ns
  constexpr std::size_t beside_ranks = 256;  // their messages fill the network meanwhile
  const auto elements = [&](double ns) { return static_cast<std::size_t>(ns / ns_each) + 1; };
  auto chunk = elements(most);
  if (w.workers() > 1 && static_cast<double>(n) * ns_each >= worth_sharing) {
    const auto share = n / (8 * static_cast<std::size_t>(w.workers()));
    chunk = std::clamp(share, elements(least), elements(most));
  }
  return w.size() > 1 ? std::min(chunk, beside_ranks) : chunk;
}

}  // namespace cairn::traverse
