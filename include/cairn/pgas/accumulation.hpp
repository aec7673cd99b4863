// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cairn::pgas {

/// Where a worker keeps its contributions until collect().
///
///   partials   an array per worker, with one total per element of this rank
///   bins       a list of (element, value) for each range of elements that fits a core's cache;
///              collect() combines each range on one worker ([Beamer17])
///   automatic  partials up to `partials_bytes` of totals, else bins
enum class accumulation { automatic, partials, bins };

struct accumulator_options {
  accumulation method = accumulation::automatic;
  std::size_t bin_bytes = std::size_t{1} << 18;  ///< size of the totals in a bin's range
  bool reduce = true;                            ///< combine before sending
  /// Contributions to remote elements in a worker's bins before it combines and sends them. 0: two
  /// per element, at least 4 million.
  std::size_t max_remote_entries = 0;
};

/// Up to this size of a worker's totals, partials are faster than bins.
inline constexpr std::size_t partials_bytes = std::size_t{1} << 25;

}  // namespace cairn::pgas
