// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/core/copies_in_turn.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/partition.hpp>

namespace cairn::algo {

/// A value for each vertex of all ranks.
///
/// If all ranks run on one machine that can share memory, each of them writes the values of its own
/// vertices there (copies_in_turn.hpp). Otherwise the values travel in messages, and each rank has
/// a copy. traverse::gathered_bits does the same with bits.
///
/// Memory      2 n values per machine, or n values per rank and as many during a gather; from the
///             first gather on
/// Collective  gather() and refresh(); the destruction is as that of copies_in_turn
template <class T>
class gathered_values {
 public:
  gathered_values(world& w, const pgas::partition& vertices) : w_(w), vertices_(vertices) {}

  /// Replaces the values by those of all ranks.
  ///
  /// own        the values of this rank's vertices, by local position
  void gather(std::span<const T> own) {
    CAIRN_EXPECTS(own.size() == vertices_.size(w_.rank()));
    const auto shared = shared_.next(w_, vertices_.n());
    if (shared.empty()) return gather_by_messages(own);
    copy(own, shared.subspan(vertices_.first(w_.rank())));
    w_.barrier();
    values_ = shared.data();
  }
  /// The values by id, until this rank's next gather.
  [[nodiscard]] const T* values() const noexcept { return values_; }

  /// Replaces all elements by those of their owners, on several ranks.
  ///
  /// all        n elements by id, those of this rank's vertices up to date
  void refresh(std::span<T> all) {
    if (w_.size() == 1) return;
    gather(all.subspan(vertices_.first(w_.rank()), vertices_.size(w_.rank())));
    copy({values_, all.size()}, all);
  }

 private:
  void copy(std::span<const T> from, std::span<T> to) {
    w_.parallel_for(
        from.size(),
        [&](worker_t, std::size_t begin, std::size_t end) {
          std::copy(from.data() + begin, from.data() + end, to.data() + begin);
        },
        std::size_t{1} << 16);
  }
  void gather_by_messages(std::span<const T> own) {
    copied_.resize(vertices_.n());
    auto* at = reinterpret_cast<std::byte*>(copied_.data());
    for (const auto part : w_.all_gather_bytes(std::as_bytes(own))) {
      if (!part.empty()) std::memcpy(at, part.data(), part.size());
      at += part.size();
    }
    values_ = copied_.data();
  }

  world& w_;
  const pgas::partition vertices_;
  copies_in_turn<T> shared_;
  std::vector<T> copied_;  // without shared memory
  const T* values_ = nullptr;
};

}  // namespace cairn::algo
