// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <cairn/hw/pages.hpp>

namespace cairn::pgas {

/// A hash table with linear probing; a shard of a hash_map. It doubles when it is more than 3/4
/// full. An erased entry leaves no mark, because later entries of its run move back.
///
/// Key, Value  trivially copyable
/// Hash        the caller's, the same for equal keys; its low bits choose the place
/// Cost        O(1) expected
template <class Key, class Value>
class probing_table {
 public:
  /// Takes memory for n entries, so that the table does not grow before it holds them.
  void reserve(std::size_t n) {
    if (capacity_for(n) > entries_.size()) resize(capacity_for(n));
  }
  /// Bytes of a table that holds n entries and has not held more.
  [[nodiscard]] static std::size_t bytes(std::size_t n) noexcept {
    return capacity_for(n) * sizeof(entry);
  }
  /// The number of entries of the table to which this one must grow before insert(); 0: it has
  /// room.
  [[nodiscard]] std::size_t must_grow_to() const noexcept {
    return 4 * (size_ + 1) > 3 * entries_.size() ? capacity_for(size_ + 1) : 0;
  }
  /// Memory for a table of so many entries. Uses no table, so it needs no lock.
  [[nodiscard]] static auto memory_for(std::size_t capacity) {
    hw::page_buffer<entry> larger(capacity);
    larger.prefault();
    return larger;
  }
  /// Moves to larger memory of memory_for(must_grow_to()), and leaves the memory before in it.
  void grow(auto& larger) {
    entries_.swap(larger);
    for (const auto& e : larger) {
      if (e.used) entries_[place_of(e.hash, e.key)] = e;
    }
    published_.store(reinterpret_cast<const char*>(entries_.data()), std::memory_order_relaxed);
    published_mask_.store(mask(), std::memory_order_relaxed);
  }
  /// Inserts unless the key is there; returns whether it did.
  bool insert(std::uint64_t hash, const Key& key, const Value& value) {
    if (const auto capacity = must_grow_to(); capacity != 0) [[unlikely]]
      resize(capacity);
    const auto at = place_of(hash, key);
    if (entries_[at].used) return false;
    entries_[at] = {hash, key, value, true};
    ++size_;
    return true;
  }
  [[nodiscard]] Value* find(std::uint64_t hash, const Key& key) noexcept {
    if (size_ == 0) return nullptr;
    auto& e = entries_[place_of(hash, key)];
    return e.used ? &e.value : nullptr;
  }
  bool erase(std::uint64_t hash, const Key& key) noexcept {
    if (size_ == 0) return false;
    auto hole = place_of(hash, key);
    if (!entries_[hole].used) return false;
    --size_;
    for (auto at = next(hole); entries_[at].used; at = next(at)) {
      // An entry may move into the hole if its own run begins at the hole or before.
      const auto distance = (at - first_of(entries_[at].hash)) & mask();
      if (distance < ((at - hole) & mask())) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole].used = false;
    return true;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Where the run of a hash begins, to be fetched into the cache. While another worker changes the
  /// table, it may be an address without meaning.
  [[nodiscard]] const void* address(std::uint64_t hash) const noexcept {
    return published_.load(std::memory_order_relaxed) +
           (hash & published_mask_.load(std::memory_order_relaxed)) * sizeof(entry);
  }
  /// Bytes of memory. Any thread.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return (published_mask_.load(std::memory_order_relaxed) + 1) * sizeof(entry);
  }
  template <class F>
  void each(F&& f) const {
    for (const auto& e : entries_) {
      if (e.used) f(e.key, e.value);
    }
  }

 private:
  struct entry {
    std::uint64_t hash;
    Key key;
    Value value;
    bool used = false;
  };

  [[nodiscard]] std::size_t mask() const noexcept { return entries_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & mask(); }
  [[nodiscard]] std::size_t first_of(std::uint64_t hash) const noexcept { return hash & mask(); }
  // The entry of a key, or the unused one where it would be.
  [[nodiscard]] std::size_t place_of(std::uint64_t hash, const Key& key) const noexcept {
    auto at = first_of(hash);
    while (entries_[at].used && !(entries_[at].hash == hash && entries_[at].key == key)) {
      at = next(at);
    }
    return at;
  }
  [[nodiscard]] static std::size_t capacity_for(std::size_t n) noexcept {
    return std::max<std::size_t>(16, std::bit_ceil(n + n / 3 + 1));
  }
  void resize(std::size_t capacity) {
    hw::page_buffer<entry> larger(capacity);
    grow(larger);
  }

  hw::page_buffer<entry> entries_;  // zeros: not used
  std::size_t size_ = 0;
  std::atomic<const char*> published_{nullptr};
  std::atomic<std::size_t> published_mask_{0};
};

}  // namespace cairn::pgas
