// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <cairn/base/types.hpp>

namespace cairn {

/// Which worker of the destination runs a message's operator.
///
///   any      the worker that takes the buffer in: no worker waits for another
///   owner    the worker that owns the element's block. Each element has one writer, so operators
///            of one cell need no synchronisation; messages between the workers of a rank are
///            coalesced as those between ranks. Other writers of the same elements in the same
///            epoch, such as an operator with answers or a loop, are not excluded
enum class delivery { any, owner };

/// The channel's buffers go to any worker.
inline constexpr int any_worker = -1;

/// The worker, of `workers`, that owns the block of element `id`. Blocks have 32 elements, so that
/// two workers rarely write to one cache line, and are spread by multiplicative hashing [Knuth].
[[nodiscard]] constexpr worker_t worker_of_block(std::uint64_t id,
                                                 std::same_as<int> auto workers) noexcept {
  const auto spread = ((id >> 5) * 0x9e3779b97f4a7c15u) >> 32;
  return worker_t(static_cast<int>((spread * static_cast<std::uint64_t>(workers)) >> 32));
}

}  // namespace cairn
