// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/core/world.hpp>
#include <cairn/hw/pages.hpp>

namespace cairn::pgas {

template <class T>
class edge_map;

/// The name of one element of an edge_map: valid on every rank, reached only at its owner.
template <class T>
struct edge_place {
  const edge_map<T>* map;
  std::uint64_t id;

  [[nodiscard]] rank_t owner() const noexcept { return map->owner(id); }
  /// The element itself. Called at its owner only.
  [[nodiscard]] T& here() const noexcept { return map->element(id); }
};

/// One T per edge, at the owner of the edge's source, each starting as `initial`.
///
/// Edges are numbered through the ranks' rows: first all of rank 0, then of rank 1, ... An
/// undirected edge has two elements, one in the row of each end. Elements are reached as those
/// of a vertex_map are.
///
/// offsets    this rank's rows, as csr::offsets(): row i is [offsets[i], offsets[i + 1])
/// T          trivially copyable
/// Memory     sizeof(T) per own edge, on huge pages, touched first by the workers; 8 bytes per
///            rank. A place costs O(log ranks) to find its owner.
/// Collective constructor.
template <class T>
class edge_map {
  static_assert(std::is_trivially_copyable_v<T>, "elements travel as their bytes");

 public:
  using value_type = T;

  edge_map(world& w, std::span<const std::uint64_t> offsets, const T& initial)
      : offsets_(offsets),
        initial_(initial),
        values_(offsets.empty() ? 0 : offsets.back() - offsets.front()) {
    std::uint64_t next = 0;
    for (const auto n : w.all_gather(std::uint64_t{values_.size()})) {
      firsts_.push_back(next);
      next += n;
    }
    firsts_.push_back(next);
    first_ = firsts_[static_cast<std::size_t>(w.rank())];
    w.parallel_for(values_.size(), [&](worker_t, std::size_t begin, std::size_t end) {
      std::fill(values_.begin() + begin, values_.begin() + end, initial);
    });
  }

  /// The id of entry i of this rank's row r: rows are counted from this rank's first.
  [[nodiscard]] std::uint64_t id_of(std::uint64_t row, std::uint64_t i) const noexcept {
    CAIRN_ASSERT(offsets_[row] + i < offsets_[row + 1]);
    return first_ + (offsets_[row] - offsets_.front()) + i;
  }

  [[nodiscard]] rank_t owner(std::uint64_t id) const noexcept {
    return static_cast<rank_t>(std::upper_bound(firsts_.begin(), firsts_.end(), id) -
                               firsts_.begin() - 1);
  }
  [[nodiscard]] bool owns(std::uint64_t id) const noexcept { return id - first_ < values_.size(); }
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  /// Elements on all ranks.
  [[nodiscard]] std::uint64_t size() const noexcept { return firsts_.back(); }
  [[nodiscard]] const T& initial() const noexcept { return initial_; }

  [[nodiscard]] edge_place<T> at(std::uint64_t id) const noexcept { return {this, id}; }

  /// Own elements by global id; reads may be stale while others write.
  [[nodiscard]] T load(std::uint64_t id) const noexcept requires(sizeof(T) <= 8) {
    return std::atomic_ref(element(id)).load(std::memory_order_relaxed);
  }
  void store(std::uint64_t id, const T& x) noexcept requires(sizeof(T) <= 8) {
    std::atomic_ref(element(id)).store(x, std::memory_order_relaxed);
  }

  /// This rank's elements, by id - first().
  [[nodiscard]] std::span<T> local() noexcept { return values_.span(); }
  [[nodiscard]] std::span<const T> local() const noexcept { return values_.span(); }

 private:
  friend struct edge_place<T>;
  // As in vertex_map: shared memory whatever the constness of the handle.
  [[nodiscard]] T& element(std::uint64_t id) const noexcept {
    CAIRN_ASSERT(owns(id));
    return const_cast<T*>(values_.data())[id - first_];
  }

  std::span<const std::uint64_t> offsets_;
  T initial_;
  hw::page_buffer<T> values_;
  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> firsts_;  // by rank, and the end
};

}  // namespace cairn::pgas
