// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <cairn/core/machines.hpp>
#include <cairn/core/world.hpp>

namespace cairn {

/// Two copies of a list in memory that all ranks share, written in turn: while ranks write one of
/// them, others may still read the one written before. Between the writes of two copies lies a
/// collective.
///
/// Memory      2 n values for all ranks, from the first call on
/// Collective  next(); all ranks destroy these objects and machines::lent_memory in one and the
/// same
///             order, each after a collective that follows its last access
template <class T>
class copies_in_turn {
 public:
  /// The copy to be written next. Empty if not all ranks run on one machine that can share memory.
  ///
  /// n         the same in all calls, on all ranks
  [[nodiscard]] std::span<T> next(world& w, std::size_t n) {
    if (n == 0 || w.machines().count() > 1) return {};
    if (!asked_) lent_ = w.machines().lend(2 * n * sizeof(T));
    asked_ = true;
    const auto copies = lent_.values<T>(2 * n);
    if (copies.empty()) return {};
    written_ = 1 - written_;
    return copies.subspan(written_ * n, n);
  }

 private:
  machines::lent_memory lent_;
  bool asked_ = false;
  std::size_t written_ = 0;
};

}  // namespace cairn
