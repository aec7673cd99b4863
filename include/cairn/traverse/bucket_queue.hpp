// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <cairn/core/world.hpp>
#include <cairn/hw/page_pool.hpp>

namespace cairn::traverse {

/// The entries of one worker by distance, in buckets of equal width. Bucket b holds the distances
/// from b * width on. The order within a bucket is first in, first out, by chunks.
///
/// The buckets of a window are lists of chunks; entries beyond the window wait in one list, and
/// are distributed when the window has become empty. Chunks are recycled.
///
/// Entry     has a member `distance`, a number of at least 0
/// Work      O(1) per entry; distances that are `window` buckets apart cost another copy
/// Memory    512 bytes per chunk, at most one part-filled chunk per bucket of the window
/// Thread-safety: one worker at a time.
template <class Entry>
class bucket_queue {
 public:
  using entry = Entry;
  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< no bucket

  bucket_queue() = default;
  /// width     of a bucket; infinity: all entries are in bucket 0
  bucket_queue(world& w, double width)
      : per_width_(1 / width), lists_(window), memory_(w.memory()) {}

  /// Adds an entry and returns its bucket.
  std::uint64_t push(const Entry& e) {
    const auto bucket = bucket_of(e);
    if (bucket < base_) [[unlikely]] {
      move_window(bucket - std::min(bucket, window / 2));
    }
    add(bucket, e);
    return bucket;
  }

  /// The first bucket that has entries, or `none`.
  [[nodiscard]] std::uint64_t least() {
    for (auto word = (least_ - base_) / 64; word < used_.size(); ++word) {
      if (used_[word] == 0) continue;
      least_ = base_ + 64 * word + static_cast<std::uint64_t>(std::countr_zero(used_[word]));
      return least_;
    }
    least_ = base_ + window - 1;
    return far_least_;
  }

  /// Takes entries out of the first bucket that has any, if it is before `end`. Valid until the
  /// next call.
  [[nodiscard]] std::span<const Entry> take(std::uint64_t end) {
    if (taken_) recycle(std::exchange(taken_, nullptr));
    const auto bucket = least();
    if (bucket >= end) return {};
    if (bucket >= base_ + window) move_window(bucket);
    taken_ = take_chunk(bucket);
    return {taken_->entries.data(), taken_->size};
  }
  /// What take() will probably return next, for prefetches.
  [[nodiscard]] std::span<const Entry> next() const {
    const auto* const c = lists_[least_ - base_].first;
    if (c == nullptr) return {};
    return {c->entries.data(), c->size};
  }

  /// Moves half of the chunks of the first bucket, or half of its only chunk, to the end of `to`,
  /// if the bucket is before `end`.
  void give_half(std::uint64_t end, std::vector<Entry>& to) {
    constexpr std::size_t worth_giving = 8;
    const auto bucket = least();
    if (bucket >= std::min(end, base_ + window)) return;
    auto& from = lists_[bucket - base_];
    if (from.first == from.last) {
      auto& c = *from.first;
      if (c.size < worth_giving) return;
      const auto kept = c.size / 2;
      to.insert(to.end(), c.entries.begin() + kept, c.entries.begin() + c.size);
      c.size = kept;
      return;
    }
    std::size_t chunks = 0;
    for (const auto* c = from.first; c != nullptr; c = c->next) ++chunks;
    for (chunks /= 2; chunks > 0; --chunks) {
      auto* const c = take_chunk(bucket);
      to.insert(to.end(), c->entries.begin(), c->entries.begin() + c->size);
      recycle(c);
    }
  }

 private:
  static constexpr std::uint64_t window = 1024;
  static constexpr std::size_t chunk_bytes = 512, chunks_at_once = 256;
  static constexpr std::size_t room = (chunk_bytes - 16) / sizeof(Entry);

  struct chunk {
    chunk* next;
    std::size_t size;
    std::array<Entry, room> entries;
  };
  struct list {
    chunk *first = nullptr, *last = nullptr;
  };

  [[nodiscard]] std::uint64_t bucket_of(const Entry& e) const {
    constexpr double most = 0x1p62;
    return static_cast<std::uint64_t>(std::min(static_cast<double>(e.distance) * per_width_, most));
  }

  void add(std::uint64_t bucket, const Entry& e) {
    const auto i = bucket - base_;
    if (i >= window) {
      far_least_ = std::min(far_least_, bucket);
      return append(far_, e);
    }
    least_ = std::min(least_, bucket);
    auto& to = lists_[i];
    if (to.first == nullptr) used_[i / 64] |= std::uint64_t{1} << (i % 64);
    append(to, e);
  }

  void append(list& to, const Entry& e) {
    auto* c = to.last;
    if (c == nullptr || c->size == room) [[unlikely]] {
      c = another();
      (to.last ? to.last->next : to.first) = c;
      to.last = c;
    }
    c->entries[c->size++] = e;
  }

  [[gnu::noinline]] chunk* another() {
    if (free_ == nullptr) {
      auto& block = blocks_.emplace_back(chunks_at_once, memory_);
      for (auto& c : block.span()) {
        c.next = free_;
        free_ = &c;
      }
    }
    auto* const c = std::exchange(free_, free_->next);
    c->next = nullptr;
    c->size = 0;
    return c;
  }
  void recycle(chunk* c) { c->next = std::exchange(free_, c); }

  chunk* take_chunk(std::uint64_t bucket) {
    const auto i = bucket - base_;
    auto& from = lists_[i];
    auto* const c = std::exchange(from.first, from.first->next);
    if (from.first == nullptr) {
      from.last = nullptr;
      used_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
    }
    return c;
  }

  // Distributes all entries again, over a window from `first` on.
  void move_window(std::uint64_t first) {
    auto* left = std::exchange(far_, {}).first;
    for (std::uint64_t b = least(); b < base_ + window; b = least()) {
      auto* const c = take_chunk(b);
      c->next = std::exchange(left, c);
    }
    base_ = least_ = first;
    far_least_ = none;
    while (left != nullptr) {
      auto* const c = std::exchange(left, left->next);
      for (std::size_t i = 0; i < c->size; ++i) add(bucket_of(c->entries[i]), c->entries[i]);
      recycle(c);
    }
  }

  double per_width_ = 0;
  std::uint64_t base_ = 0;                         // the window's first bucket
  std::uint64_t least_ = 0;                        // of the window; no earlier one has entries
  std::uint64_t far_least_ = none;                 // of those beyond the window
  std::vector<list> lists_;                        // of the window
  std::array<std::uint64_t, window / 64> used_{};  // a bit for each list that has entries
  list far_;
  chunk *taken_ = nullptr, *free_ = nullptr;
  std::shared_ptr<hw::page_source> memory_;
  std::vector<hw::page_buffer<chunk>> blocks_;
};

}  // namespace cairn::traverse
