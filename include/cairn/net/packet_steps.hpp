// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace cairn::net {

/// The sizes of packets at which a transport begins to do more work for each: another slot of a
/// ring, a rendezvous instead of an eager send, one more piece of a long message.
///
/// A packet just above such a step costs as much as one of nearly twice its bytes. So packets end
/// at a step or well above it.
///
/// A pure function of its arguments.
class packet_steps {
 public:
  /// Packets take whole slots of `bytes`, and begin with `header` bytes that the transport adds.
  struct slots {
    std::size_t bytes = 1, header = 0;
  };

  packet_steps() = default;
  /// largest   sizes of the largest packets before each step, in any order
  explicit packet_steps(std::vector<std::size_t> largest, slots in_slots = {1, 0})
      : largest_(std::move(largest)), slots_(in_slots) {
    std::ranges::sort(largest_);
  }

  /// Ascending.
  [[nodiscard]] std::span<const std::size_t> largest() const noexcept { return largest_; }
  [[nodiscard]] slots in_slots() const noexcept { return slots_; }

  /// Whether a packet of `size` bytes exceeds a step by less than the step itself.
  [[nodiscard]] bool just_above_a_step(std::size_t size) const noexcept {
    return std::ranges::any_of(largest_, [&](std::size_t s) { return s < size && size - s < s; });
  }

  /// The packet size to use for about `wanted` bytes: at most `max`, at least one slot. A step that
  /// `wanted` exceeds by less than itself, else as many bytes as fill the last slot.
  [[nodiscard]] std::size_t choose(std::size_t wanted, std::size_t max) const noexcept {
    auto size = std::min(wanted, max);
    for (auto s = largest_.rbegin(); s != largest_.rend(); ++s) {
      if (*s < size && size - *s < *s) size = *s;
    }
    const auto filled = (size + slots_.header + slots_.bytes - 1) / slots_.bytes * slots_.bytes;
    const auto up = filled - slots_.header;
    if (up <= max && !just_above_a_step(up)) return up;
    const auto down = filled > slots_.bytes + slots_.header ? up - slots_.bytes : size;
    return just_above_a_step(down) ? size : down;
  }

 private:
  std::vector<std::size_t> largest_;
  slots slots_{1, 0};
};

}  // namespace cairn::net
