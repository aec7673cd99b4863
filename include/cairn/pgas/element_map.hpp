// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include <cairn/core/world.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/pgas/atomic_access.hpp>
#include <cairn/pgas/partition.hpp>

namespace cairn::pgas {

/// A reference to one element of a map: valid on every rank, dereferenced only at the owner.
template <class Map>
struct place {
  const Map* map;
  std::uint64_t id;

  [[nodiscard]] rank_t owner() const noexcept { return map->owner(id); }
  /// The element. Called at its owner only.
  [[nodiscard]] auto& element() const noexcept { return map->element(id); }
};

/// A view of a map's elements, passed by value to operators. A loop over messages keeps it in
/// registers, whereas a reference to the map is dereferenced for each message. Valid for the
/// lifetime of the map's storage, also after the map was moved.
///
/// Partition  the view type of the map's partition
template <class T, class Partition>
class element_view {
 public:
  using value_type = T;

  element_view(std::span<T> values, std::uint64_t first, const Partition& partition,
               const T& initial) noexcept
      : origin_(reinterpret_cast<std::uintptr_t>(values.data()) - first * sizeof(T)),
        first_(first),
        num_(values.size()),
        partition_(partition),
        initial_(initial) {}

  [[nodiscard]] rank_t owner(std::uint64_t id) const noexcept { return partition_.owner(id); }
  [[nodiscard]] bool owns(std::uint64_t id) const noexcept { return id - first_ < num_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return partition_.n(); }
  [[nodiscard]] const T& initial() const noexcept { return initial_; }
  [[nodiscard]] place<element_view> at(std::uint64_t id) const& noexcept { return {this, id}; }
  void at(std::uint64_t id) const&& = delete;  // the place would outlive the view
  [[nodiscard]] T& element(std::uint64_t id) const noexcept {
    CAIRN_ASSERT(owns(id));
    return *reinterpret_cast<T*>(origin_ + id * sizeof(T));
  }

 private:
  std::uintptr_t origin_;  // where element 0 would be: one register in a loop instead of two
  std::uint64_t first_, num_;
  Partition partition_;
  T initial_;
};

/// One T for each element of a partition, at its owner, initialised to `initial`.
///
/// A sender cannot see remote elements. The sent-filter of an operator (activity/operator.hpp)
/// assumes that they begin an epoch as initial(), also if the program has stored other values.
/// For an operator that lowers, initial() must therefore be the greatest value of all.
///
/// While an epoch or a parallel loop may change elements, access them through operators or by
/// load() and store(). Spans are for use while no worker writes.
///
/// T           trivially copyable
/// Partition   owner(id), first(rank), size(rank) and n(), as partition
/// Memory      sizeof(T) per element of this rank, on huge pages, first touched by the workers
/// Throws      from the constructor: system_failure if there is no memory; contract_violation if
///             the partition has another number of ranks than the world
/// Collective  constructor
template <class T, class Partition>
class element_map {
  static_assert(std::is_trivially_copyable_v<T>, "elements travel as their bytes");

 public:
  using value_type = T;

  element_map(world& w, Partition partition, const T& initial)
      : element_map(filled_by, w, std::move(partition), initial,
                    [initial](std::span<T> values, std::uint64_t) { fill(values, initial); }) {}

  /// Sets each element to value(its id) instead.
  template <class F>
  element_map(world& w, Partition partition, const T& initial, F value)
      : element_map(filled_by, w, std::move(partition), initial,
                    [value](std::span<T> values, std::uint64_t id) {
                      for (auto& x : values) x = value(id++);
                    }) {}

  [[nodiscard]] const Partition& partition() const noexcept { return partition_; }
  [[nodiscard]] rank_t owner(std::uint64_t id) const noexcept { return partition_.owner(id); }
  [[nodiscard]] bool owns(std::uint64_t id) const noexcept { return id - first_ < values_.size(); }
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  /// Number of elements on all ranks.
  [[nodiscard]] std::uint64_t size() const noexcept { return partition_.n(); }
  [[nodiscard]] const T& initial() const noexcept { return initial_; }

  [[nodiscard]] place<element_map> at(std::uint64_t id) const noexcept { return {this, id}; }

  /// A view for operators, which keep it by value.
  [[nodiscard]] element_view<T, partition_view> view() const noexcept {
    return {{const_cast<T*>(values_.data()), values_.size()}, first_, partition_, initial_};
  }

  /// Elements of this rank by global id. Reads may be stale while others write.
  [[nodiscard]] T load(std::uint64_t id) const noexcept requires(is_word(sizeof(T))) {
    return std::atomic_ref(element(id)).load(std::memory_order_relaxed);
  }
  void store(std::uint64_t id, const T& x) noexcept requires(is_word(sizeof(T))) {
    std::atomic_ref(element(id)).store(x, std::memory_order_relaxed);
  }

  /// This rank's elements, by id - first().
  [[nodiscard]] std::span<T> local() noexcept { return values_.span(); }
  [[nodiscard]] std::span<const T> local() const noexcept { return values_.span(); }

 private:
  struct filled_by_tag {};
  static constexpr filled_by_tag filled_by{};

  // f(values, id) sets elements from an id on.
  template <class F>
  element_map(filled_by_tag, world& w, Partition partition, const T& initial, F f)
      : partition_(expect_ranks(std::move(partition), w.size())),
        first_(partition_.first(w.rank())),
        initial_(initial),
        values_(partition_.size(w.rank()), w.memory()) {
    constexpr std::size_t chunk = std::max<std::size_t>(1, (64 << 10) / sizeof(T));
    w.parallel_for(
        values_.size(),
        [all = values_.span(), first = first_, f](worker_t, std::size_t i, std::size_t end) {
          f(all.subspan(i, end - i), first + i);
        },
        chunk);
  }

  // Equal bytes are set by memset, which may use wider stores than this program's instruction set.
  static void fill(std::span<T> values, const T& x) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&x);
    if (std::all_of(bytes, bytes + sizeof(T), [&](auto b) { return b == bytes[0]; })) {
      std::memset(static_cast<void*>(values.data()), bytes[0], values.size_bytes());
    } else {
      std::fill(values.begin(), values.end(), x);
    }
  }

  friend struct place<element_map>;
  // Const: operators hold maps by const reference and access elements through cell_ref. The
  // elements are shared memory, mutable through a const map.
  [[nodiscard]] T& element(std::uint64_t id) const noexcept {
    CAIRN_ASSERT(owns(id));
    return const_cast<T*>(values_.data())[id - first_];
  }

  Partition partition_;
  std::uint64_t first_;
  T initial_;
  hw::page_buffer<T> values_;
};

}  // namespace cairn::pgas
