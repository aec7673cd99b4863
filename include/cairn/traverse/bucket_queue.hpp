// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/core/world.hpp>
#include <cairn/hw/page_pool.hpp>

namespace cairn::traverse {

/// A vertex and the distance at which it was reached.
template <class Id, class Distance>
struct reached_vertex {
  Id vertex;
  Distance distance;
};

/// The entries of one worker by distance, in buckets of equal width. Bucket b holds the distances
/// from b * width on. The order within a bucket is first in, first out, by chunks.
///
/// The buckets of a window are lists of chunks. Entries beyond it wait in coarser lists, by the
/// highest bit in which their bucket differs from the window's, as in a radix heap; a list is
/// distributed when it has become the first. Entries before the window are one list. Chunks are
/// recycled.
///
/// Entry     has a member `distance`, a number of at least 0
/// Work      O(1) per entry near the first; for one 2^k windows away up to k more copies
/// Memory    512 bytes per chunk, at most one part-filled chunk per list
/// Thread-safety: one worker at a time.
/// Source    coarser lists: R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan, Faster algorithms
///           for the shortest path problem, 1990
template <class Entry>
class bucket_queue {
 public:
  using distance_type = decltype(Entry::distance);

  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< no bucket

  bucket_queue() = default;
  /// width     of a bucket; infinity: all entries are in bucket 0
  bucket_queue(world& w, double width)
      : per_width_(1 / width), shift_(shift_of(width)), near_(window), memory_(w.memory()) {}

  /// Adds an entry and returns its bucket.
  [[gnu::always_inline]] std::uint64_t push(const Entry& e) {
    const auto bucket = bucket_of(e.distance);
    const auto i = bucket ^ base_;
    if (i < window) [[likely]] {
      auto& to = near_[i];
      if (to.at != to.end) [[likely]] {
        *to.at++ = e;
        return bucket;
      }
    }
    push_elsewhere(bucket, e);
    return bucket;
  }

  /// The bucket of a distance.
  [[nodiscard, gnu::always_inline]] std::uint64_t bucket_of(distance_type distance) const {
    if constexpr (std::is_integral_v<distance_type>) {
      if (shift_ >= 0) [[likely]]
        return distance >> shift_;
    }
    constexpr double most = 0x1p62;
    return static_cast<std::uint64_t>(std::min(static_cast<double>(distance) * per_width_, most));
  }

  /// The number of entries, by counting chunks.
  [[nodiscard]] std::size_t size() const {
    auto all = early_.size();
    for (const auto& l : near_) all += l.size();
    for (const auto& l : far_) all += l.size();
    return all;
  }

  /// The first bucket that has entries, or `none`.
  [[nodiscard]] std::uint64_t least() {
    if (early_.first != nullptr) [[unlikely]]
      return early_least_;
    for (auto word = least_ / 64; word < used_.size(); ++word) {
      if (used_[word] == 0) continue;
      least_ = 64 * word + static_cast<std::uint64_t>(std::countr_zero(used_[word]));
      return base_ + least_;
    }
    least_ = window - 1;
    return far_used_ == 0 ? none : far_least_[first_far()];
  }

  /// Takes entries out of the first bucket that has any, if it is before `end`. Valid until the
  /// next call.
  ///
  /// end       if less than in an earlier call, entries that it excludes may be taken, too
  [[nodiscard]] std::span<const Entry> take(std::uint64_t end) {
    if (taken_.chunk) recycle(std::exchange(taken_, {}).chunk);
    const auto bucket = least();
    if (bucket >= end) return {};
    if (bucket >= base_ + window) move_window(bucket);
    taken_ = take_chunk(early_.first ? early_ : near_[least_]);
    return taken_.entries();
  }
  /// What take() will probably return next, for prefetches.
  [[nodiscard]] std::span<const Entry> next() {
    const auto bucket = least();
    if (bucket - base_ >= window) return {};
    return near_[least_].head().entries();
  }

  /// Moves half of the chunks of the first bucket, or half of its only chunk, to the end of `to`,
  /// if the bucket is before `end`.
  void give_half(std::uint64_t end, std::vector<Entry>& to) {
    constexpr std::size_t worth_giving = 8;
    if (least() >= std::min(end, base_ + window)) return;
    auto& from = early_.first ? early_ : near_[least_];
    if (from.first == from.last) {
      const auto entries = from.head().entries();
      if (entries.size() < worth_giving) return;
      const auto given = entries.subspan(entries.size() / 2);
      to.insert(to.end(), given.begin(), given.end());
      from.at -= given.size();
      return;
    }
    std::size_t chunks = 0;
    for (const auto* c = from.first; c != nullptr; c = c->next) ++chunks;
    for (chunks /= 2; chunks > 0; --chunks) {
      const auto taken = take_chunk(from);
      const auto entries = taken.entries();
      to.insert(to.end(), entries.begin(), entries.end());
      recycle(taken.chunk);
    }
  }

 private:
  static constexpr std::uint64_t window = 1024;
  static constexpr std::size_t chunk_bytes = 512, chunks_at_once = 256;
  static constexpr std::size_t room = (chunk_bytes - 8) / sizeof(Entry);

  struct chunk_of_entries {
    chunk_of_entries* next;
    std::array<Entry, room> entries;
  };
  struct filled {
    chunk_of_entries* chunk = nullptr;
    std::size_t size = 0;
    [[nodiscard]] std::span<const Entry> entries() const {
      if (chunk == nullptr) return {};
      return {chunk->entries.data(), size};
    }
  };
  // Every chunk but the last one is full.
  struct list {
    Entry *at = nullptr, *end = nullptr;  // where the next entry goes, and the end of its chunk
    chunk_of_entries *first = nullptr, *last = nullptr;
    [[nodiscard]] std::size_t size() const {
      if (first == nullptr) return 0;
      std::size_t full = 0;
      for (const auto* c = first; c != last; c = c->next) full += room;
      return full + static_cast<std::size_t>(at - last->entries.data());
    }
    [[nodiscard]] filled head() const {
      if (first != last) return {first, room};
      return {first, first ? static_cast<std::size_t>(at - first->entries.data()) : 0};
    }
  };

  // How far to shift where the width is 2^0 .. 2^31, else -1.
  static int shift_of(double width) {
    const bool fits = width >= 1 && width <= 0x1p31;
    const auto whole = fits ? static_cast<std::uint64_t>(width) : 0;
    const bool power = std::has_single_bit(whole) && static_cast<double>(whole) == width;
    return power ? std::countr_zero(whole) : -1;
  }

  [[gnu::noinline]] void push_elsewhere(std::uint64_t bucket, const Entry& e) {
    if (bucket >= base_) return add(bucket, e);
    early_least_ = std::min(early_least_, bucket);
    append(early_, e);
  }

  // Of a bucket that is not before the window.
  void add(std::uint64_t bucket, const Entry& e) {
    const auto i = bucket ^ base_;
    if (i >= window) [[unlikely]] {
      const auto level = static_cast<std::size_t>(std::bit_width(i / window)) - 1;
      auto& least = far_least_[level];
      const bool first = (far_used_ >> level & 1) == 0;
      least = first ? bucket : std::min(least, bucket);
      far_used_ |= std::uint64_t{1} << level;
      return append(far_[level], e);
    }
    auto& to = near_[i];
    if (to.at == to.end) [[unlikely]] {
      least_ = std::min(least_, i);
      used_[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    append(to, e);
  }

  [[gnu::always_inline]] void append(list& to, const Entry& e) {
    if (to.at == to.end) [[unlikely]]
      lengthen(to);
    *to.at++ = e;
  }

  [[gnu::noinline]] void lengthen(list& to) {
    if (free_ == nullptr) {
      auto& block = blocks_.emplace_back(chunks_at_once, memory_);
      for (auto& c : block.span()) recycle(&c);
    }
    auto* const c = std::exchange(free_, free_->next);
    c->next = nullptr;
    (to.first ? to.last->next : to.first) = c;
    to.last = c;
    to.at = c->entries.data();
    to.end = to.at + room;
  }
  void recycle(chunk_of_entries* c) { c->next = std::exchange(free_, c); }

  filled take_chunk(list& from) {
    const auto taken = from.head();
    from.first = taken.chunk->next;
    if (from.first != nullptr) return taken;
    from = {};
    if (&from == &early_) {
      early_least_ = none;
    } else {
      used_[least_ / 64] &= ~(std::uint64_t{1} << (least_ % 64));
    }
    return taken;
  }

  [[nodiscard]] std::size_t first_far() const {
    return static_cast<std::size_t>(std::countr_zero(far_used_));
  }

  // To the bucket, which is the first of all: its list has what the new window holds.
  void move_window(std::uint64_t bucket) {
    const auto level = first_far();
    auto left = std::exchange(far_[level], {});
    far_used_ &= ~(std::uint64_t{1} << level);
    base_ = bucket / window * window;
    while (left.first != nullptr) {
      const auto part = left.head();
      for (const auto& e : part.entries()) add(bucket_of(e.distance), e);
      left.first = part.chunk->next;
      recycle(part.chunk);
    }
    least_ = bucket - base_;
  }

  double per_width_ = 0;
  int shift_ = -1;
  std::uint64_t base_ = 0;   // the window's first bucket, a multiple of its size
  std::uint64_t least_ = 0;  // in the window; no earlier bucket of it has entries
  std::vector<list> near_;   // of the window
  std::array<std::uint64_t, window / 64> used_{};  // a bit for each list that has entries
  list early_;                                     // before the window
  std::uint64_t early_least_ = none;
  std::array<list, 64> far_;  // beyond the window
  std::array<std::uint64_t, 64> far_least_{};
  std::uint64_t far_used_ = 0;
  filled taken_;
  chunk_of_entries* free_ = nullptr;
  std::shared_ptr<hw::page_source> memory_;
  std::vector<hw::page_buffer<chunk_of_entries>> blocks_;
};

}  // namespace cairn::traverse
