// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/core/machines.hpp>
#include <cairn/core/world.hpp>
#include <cairn/pgas/partition.hpp>

namespace cairn::algo {

/// A value for each vertex of all ranks.
///
/// If all ranks run on one machine that can share memory, each of them writes the values of its own
/// vertices there. Gathers write two copies in turn, because other ranks may still read the last
/// one. Otherwise the values travel in messages, and each rank has a copy. traverse::gathered_bits
/// does the same with bits.
///
/// A collective separates each rank's last read from the destruction.
///
/// Memory    2 n values per machine, or n values per rank and as many during a gather; from the
///           first gather on
template <class T>
class gathered_values {
 public:
  gathered_values(world& w, const pgas::partition& vertices) : w_(w), vertices_(vertices) {}

  /// Replaces the values by those of all ranks.
  ///
  /// own       the values of this rank's vertices, by local position
  /// Collective
  void gather(std::span<const T> own) {
    CAIRN_EXPECTS(own.size() == vertices_.size(w_.rank()));
    const auto shared = next_copy();
    if (shared.empty()) return gather_by_messages(own);
    std::ranges::copy(own, shared.begin() + static_cast<std::ptrdiff_t>(first()));
    w_.barrier();
    values_ = shared.data();
  }

  /// The values by id, until this rank's next gather.
  [[nodiscard]] const T* values() const noexcept { return values_; }

  /// Replaces all elements by those of their owners, on several ranks.
  ///
  /// all        n elements by id, those of this rank's vertices up to date
  /// Collective
  void refresh(std::span<T> all) {
    if (w_.size() == 1) return;
    gather(all.subspan(first(), vertices_.size(w_.rank())));
    w_.parallel_for(
        all.size(),
        [&](worker_t, std::size_t begin, std::size_t end) {
          std::copy(values_ + begin, values_ + end, all.data() + begin);
        },
        std::size_t{1} << 16);
  }

 private:
  [[nodiscard]] std::uint64_t first() const { return vertices_.first(w_.rank()); }

  // Empty if not all ranks share memory.
  [[nodiscard]] std::span<T> next_copy() {
    const auto n = vertices_.n();
    if (n == 0 || w_.machines().count() > 1) return {};
    if (!gathered_) lent_ = w_.machines().lend(2 * n * sizeof(T));
    gathered_ = true;
    const auto copies = lent_.values<T>(2 * n);
    if (copies.empty()) return {};
    copy_ = 1 - copy_;
    return copies.subspan(copy_ * n, n);
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
  machines::lent_memory lent_;
  bool gathered_ = false;
  std::size_t copy_ = 0;   // of the shared ones, written last
  std::vector<T> copied_;  // without shared memory
  const T* values_ = nullptr;
};

}  // namespace cairn::algo
