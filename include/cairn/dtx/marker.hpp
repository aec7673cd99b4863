// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/base/types.hpp>

namespace cairn::dtx {

/// The word beside an element that says who holds it: nobody, or one transaction of one rank.
///
/// A claim of a free marker is granted and sets it; any other is refused at once, also the
/// holder's own. Whoever was granted it sends one release, and with it what is written back: so
/// a release that comes late finds its own marker, and takes nobody else's.
///
///   state            claim of t                    release by t
///   free             granted: held by t            never comes
///   held by s        refused, also if s = t        s = t: free, after the write-back
///
/// Source    [AAM15] section 4.3
using marker_word = std::uint64_t;

inline constexpr marker_word free_marker = 0;

/// The name of transaction `number` of a rank; never free_marker.
[[nodiscard]] constexpr marker_word holder_name(rank_t rank, std::uint64_t number) noexcept {
  constexpr int bits = 40;
  return (static_cast<marker_word>(rank) + 1) << bits | (number & ((marker_word{1} << bits) - 1));
}

[[nodiscard]] constexpr bool grants(marker_word now) noexcept { return now == free_marker; }

}  // namespace cairn::dtx
