// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>
#include <cairn/tm/word_lock.hpp>

namespace cairn::tm {

/// A table of locks, fewer than cells: a cell's address selects its stripe. For the mechanism
/// `locks`, which is kept for comparison.
///
/// Cells on one cache line share a stripe, because they contend for the line anyway; a set of
/// neighbors then needs few locks. Neighboring lines have neighboring locks: a worker with a part
/// of the data to itself also has the lines of its locks to itself.
class lock_table {
 public:
  /// Rounds `stripes` up to a power of two. 4 bytes each.
  /// Throws    contract_violation for no stripes, or more than 2^31
  explicit lock_table(std::size_t stripes = 1u << 14)
      : mask_(mask_for(stripes)), locks_(std::make_unique<word_lock[]>(mask_ + 1)) {}

  [[nodiscard]] std::size_t stripes() const noexcept { return mask_ + 1; }

  [[nodiscard]] std::uint32_t stripe_of(const void* cell) const noexcept {
    const auto line = reinterpret_cast<std::uintptr_t>(cell) / cache_line;
    return static_cast<std::uint32_t>((line ^ line >> std::bit_width(mask_)) & mask_);
  }

  /// Whether the cell's stripe is held.
  [[nodiscard]] bool taken(const void* cell) const noexcept {
    return locks_[stripe_of(cell)].taken();
  }

  /// Holds the stripe of one cell during its lifetime. A worker holds one guard, or one lock_set,
  /// at a time: two guards without an order may deadlock.
  class guard {
   public:
    template <relax_function Relax>
    guard(lock_table& table, const void* cell, Relax&& relax)
        : lock_(&table.locks_[table.stripe_of(cell)]), waited_(lock_->lock(relax)) {}
    ~guard() { lock_->unlock(); }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    [[nodiscard]] bool waited() const noexcept { return waited_; }

   private:
    word_lock* lock_;
    bool waited_;
  };

 private:
  friend class lock_set;

  static std::size_t mask_for(std::size_t stripes) {
    CAIRN_EXPECTS(stripes >= 1 && stripes <= (std::size_t{1} << 31), "1 to 2^31 stripes");
    return std::bit_ceil(stripes) - 1;
  }

  std::size_t mask_;
  std::unique_ptr<word_lock[]> locks_;
};

/// Locks the stripes of a set of cells without deadlock: each stripe once, in ascending order.
/// Reuse one object per worker: it allocates only to grow.
class lock_set {
 public:
  explicit lock_set(lock_table& table) : table_(&table) {}
  ~lock_set() { unlock(); }
  lock_set(const lock_set&) = delete;
  lock_set& operator=(const lock_set&) = delete;

  /// Called before lock(). The same cell may be added again.
  void add(const void* cell) {
    CAIRN_ASSERT(held_ == 0);
    const auto stripe = table_->stripe_of(cell);
    if (stripes_.empty() || stripes_.back() < stripe) [[likely]]
      return stripes_.push_back(stripe);
    const auto at = std::lower_bound(stripes_.begin(), stripes_.end(), stripe);
    if (*at != stripe) stripes_.insert(at, stripe);
  }

  /// Acquires all stripes. Returns how many of them another worker held first.
  template <relax_function Relax>
  std::size_t lock(Relax&& relax) {
    CAIRN_ASSERT(held_ == 0);
    std::size_t waits = 0;
    for (const auto s : stripes_) {
      waits += table_->locks_[s].lock(relax) ? 1 : 0;
      ++held_;
    }
    return waits;
  }

  /// Releases the stripes and clears the set.
  void unlock() noexcept {
    while (held_ > 0) table_->locks_[stripes_[--held_]].unlock();
    stripes_.clear();
  }

  /// The number of distinct stripes.
  [[nodiscard]] std::size_t size() const noexcept { return stripes_.size(); }

 private:
  lock_table* table_;
  std::vector<std::uint32_t> stripes_;  // ascending
  std::size_t held_ = 0;                // how many of stripes_ are held, from the front
};

}  // namespace cairn::tm
