// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cairn/task/prefetch.hpp>

namespace cairn::pgas {

/// Sizes of a rank's part of an array or a map up to which its elements are probably in a cache.
/// The default values suit an Intel Xeon with 2 MiB of second cache.
struct cached_parts {
  std::size_t own_bytes = std::size_t{1} << 20;      ///< in the core's own cache
  std::size_t shared_bytes = std::size_t{8} << 20;   ///< in a cache that cores share
  std::size_t partly_bytes = std::size_t{48} << 20;  ///< many of them in a cache that cores share

  [[nodiscard]] task::likely_in likely(std::size_t bytes) const noexcept {
    if (bytes <= own_bytes) return task::likely_in::own_cache;
    if (bytes <= shared_bytes) return task::likely_in::shared_cache;
    return bytes <= partly_bytes ? task::likely_in::partly_cached : task::likely_in::memory;
  }
};

}  // namespace cairn::pgas
