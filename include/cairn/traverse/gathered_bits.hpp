// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <cairn/core/copies_in_turn.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/partition.hpp>

namespace cairn::traverse {

/// A bit for each vertex of all ranks.
///
/// If all ranks run on one machine that can share memory, each of them writes the bits of its own
/// vertices there (copies_in_turn.hpp), and a reduction ends the gather. Otherwise the bits travel
/// in messages, and each rank has a copy.
///
/// Memory      2 n bits per machine, or n bits per rank; from the first gather on
/// Collective  the destruction is as that of copies_in_turn
class gathered_bits {
 public:
  gathered_bits(world& w, const pgas::partition& vertices) : w_(w), vertices_(vertices) {}

  /// Replaces the bits by those of all ranks, and `sums` by their sums over all ranks.
  ///
  /// own       the bits of this rank's vertices, by local position; more are ignored
  /// sums      as many on all ranks
  /// Collective
  void gather(std::span<const std::uint64_t> own, std::span<std::uint64_t> sums);
  /// Whether a gather takes about as long as its sums alone.
  [[nodiscard]] bool is_cheap() const;

  /// The bits by id, until this rank's next gather. Those after the last one are undetermined.
  [[nodiscard]] const std::uint64_t* words() const noexcept { return words_; }

 private:
  void gather_by_messages(std::span<const std::uint64_t> own, std::span<std::uint64_t> sums);

  world& w_;
  const pgas::partition vertices_;
  copies_in_turn<std::uint64_t> shared_;
  std::vector<std::uint64_t> copied_;  // without shared memory
  const std::uint64_t* words_ = nullptr;
};

}  // namespace cairn::traverse
