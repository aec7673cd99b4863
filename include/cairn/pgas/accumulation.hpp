// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cairn::pgas {

/// How a worker keeps what it has accumulated until it is collected.
///
///   partials   an array of its own with a value per own element of the rank
///   bins       a list of (element, value) for each range of elements that fits a core's cache;
///              when collected, each range is the work of one worker ([Beamer17])
///   automatic  partials up to `partials_bytes` of values, else bins
enum class accumulation { automatic, partials, bins };

struct accumulator_options {
  accumulation how = accumulation::automatic;
  std::size_t bin_bytes = std::size_t{1} << 18;  ///< of values in a bin's range
  bool reduce = true;                            ///< combine at the sender
  /// Adds to remote elements in a worker's bins before it combines and sends what is in them; 0:
  /// two for each element, at least 4 million.
  std::size_t most_remote = 0;
};

/// A partial of up to so many bytes is faster than bins.
inline constexpr std::size_t partials_bytes = std::size_t{1} << 25;

}  // namespace cairn::pgas
