// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <cairn/base/types.hpp>

namespace cairn::dtx {

/// A word beside each element that names its holder: none, or one transaction of one rank.
///
/// A claim of a free marker is granted and sets it. Any other claim is refused at once, also one by
/// the holder itself. The holder sends one release, which carries the value to write back. Only the
/// holder releases a marker, so a delayed release always finds its own marker.
///
///   state            claim by t                    release by t
///   free             granted: held by t            does not occur
///   held by s        refused, also if s = t        s = t: write-back, then free
///
/// Source    [AAM15] section 4.3
using marker_word = std::uint64_t;

inline constexpr marker_word free_marker = 0;

/// Marker of transaction `number` of a rank; never free_marker.
[[nodiscard]] constexpr marker_word holder_name(rank_t rank, std::uint64_t number) noexcept {
  constexpr int bits = 40;
  return (static_cast<marker_word>(rank) + 1) << bits | (number & ((marker_word{1} << bits) - 1));
}

[[nodiscard]] constexpr bool grants(marker_word now) noexcept { return now == free_marker; }

}  // namespace cairn::dtx
