// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cairn {

/// The ranks through which messages of epoch channels travel; am/route.hpp describes the schemes.
/// `automatic`: full buffers go directly, and part-filled ones through a grid of ranks where that
/// is cheaper (am/hop_choice.hpp).
enum class routing { automatic, direct, grid, hypercube, machine };

/// Whether no fixed scheme leads messages through other ranks.
[[nodiscard]] constexpr bool is_direct(routing scheme) noexcept {
  return scheme == routing::automatic || scheme == routing::direct;
}

}  // namespace cairn
