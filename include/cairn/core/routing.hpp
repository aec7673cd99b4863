// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cairn {

/// Through which ranks the messages of epoch channels travel: am/route.hpp describes the schemes.
enum class routing { automatic, direct, grid, hypercube, machine };

/// Whether every message goes straight to its destination; `automatic` does.
[[nodiscard]] constexpr bool is_direct(routing scheme) noexcept {
  return scheme == routing::automatic || scheme == routing::direct;
}

}  // namespace cairn
