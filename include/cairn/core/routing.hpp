// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cairn {

/// The ranks through which messages of epoch channels travel; am/route.hpp describes the schemes.
enum class routing { automatic, direct, grid, hypercube, machine };

/// Whether every message goes directly to its destination, as with `automatic`.
[[nodiscard]] constexpr bool is_direct(routing scheme) noexcept {
  return scheme == routing::automatic || scheme == routing::direct;
}

}  // namespace cairn
