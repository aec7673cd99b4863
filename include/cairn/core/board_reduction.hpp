// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/core/recursive_doubling.hpp>

namespace cairn {

/// Combines one short value per rank into one result on every rank, through memory that all ranks
/// share.
///
/// A rank writes its value, then the operation's tag, into a slot of its own. When it has seen the
/// tag in every rank's slot, it combines the values by itself, in the shape of recursive_doubling:
/// the bits of the result are the same. Each rank has two slots, used in turn. It writes the slot
/// of operation k again in operation k + 2, which it begins after all ranks have begun k + 1, so
/// after all have combined the values of k.
///
/// A pure state machine over its memory: it neither sends nor waits.
///
///   state      left by                          complete()
///   idle       begin()                          must not be called
///   running    the last value's arrival         false
///   complete   combine() or own_value()         true
///
/// Values     a rank whose value is longer than max_value writes only that it is; then fits() is
///            false on every rank, and the ranks combine their values in another way
/// Cost       one write of a slot, P reads, P - 1 combinations per rank
/// Memory     512 bytes per rank, zeroed before the first use. As many ranks may use it again after
///            all of them have completed and combined the same operations, without a restart
/// Thread-safety: one thread at a time, except awaited()
/// Collective: all ranks begin the same operations in the same order.
class board_reduction {
 public:
  static constexpr std::size_t slot_bytes = 256, max_value = slot_bytes - 16;
  [[nodiscard]] static constexpr std::size_t bytes_needed(rank_t ranks) noexcept {
    return 2 * static_cast<std::size_t>(ranks) * slot_bytes;
  }

  /// memory    shared by the ranks, aligned to a cache line; too little: the board is not usable
  board_reduction(std::span<std::byte> memory, rank_t self, rank_t size);
  [[nodiscard]] bool is_usable() const noexcept { return !memory_.empty(); }

  /// Starts the next operation with this rank's value.
  void begin(std::span<const std::byte> mine);
  /// Whether the values of all ranks have arrived.
  [[nodiscard]] bool complete() noexcept;
  /// Whether none of them was too long.
  [[nodiscard]] bool fits() const noexcept { return fits_; }
  /// The combination of all values, valid until the next call.
  [[nodiscard]] std::span<const std::byte> combine(recursive_doubling::combine_function f);
  /// This rank's value.
  [[nodiscard]] std::span<const std::byte> own_value() const noexcept { return mine_; }

  /// The first rank whose value has not arrived, if any. Any thread, but not during begin() or
  /// restart().
  [[nodiscard]] std::optional<rank_t> awaited() const noexcept;

  /// Forgets the current operation, which some ranks may not have begun. The ranks have agreed that
  /// this is their generation-th restart.
  void restart(std::uint32_t generation) noexcept;

 private:
  struct slot;
  [[nodiscard]] slot& slot_of(rank_t rank) const noexcept;
  [[nodiscard]] std::span<const std::byte> value_of(rank_t rank) const noexcept;
  [[nodiscard]] std::span<const std::byte> combined(recursive_doubling::combine_function f,
                                                    rank_t first, rank_t ranks, std::size_t depth,
                                                    bool second);

  std::span<std::byte> memory_;
  rank_t self_, size_;
  std::uint64_t first_generation_ = 1;  // after those of earlier uses of the memory
  std::uint64_t tag_ = 0;               // of the current or last operation
  rank_t arrived_ = 0;                  // the values of lower ranks have been seen
  bool fits_ = true;
  std::vector<std::byte> mine_;
  std::vector<std::vector<std::byte>> partial_;  // by depth, the first and the second half
};

}  // namespace cairn
