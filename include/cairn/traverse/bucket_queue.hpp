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

/// A priority queue of one worker, with buckets of equal width. Bucket b holds the entries with
/// distances in [b * width, (b + 1) * width). Chunks of a bucket leave it in first-in, first-out
/// order.
///
/// The buckets of a window are lists of chunks. Entries beyond the window are in coarser lists, by
/// the highest bit in which their bucket differs from the window's, as in a radix heap. When such a
/// list contains the first bucket, the window moves there and the list is distributed. All entries
/// before the window are in one list. Chunks are recycled.
///
/// Entry     has a member `distance`, a number of at least 0
/// Work      O(1) per entry in the window; up to k more copies for an entry 2^k windows away. The
///           take() that moves the window copies a whole list
/// Memory    512 bytes per chunk, at most one part-filled chunk per list
/// Thread-safety: one worker at a time.
/// Source    coarser lists: R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan, Faster algorithms
///           for the shortest path problem, 1990
template <class Entry>
class bucket_queue {
 public:
  using distance_type = decltype(Entry::distance);

  static constexpr std::uint64_t none = ~std::uint64_t{0};  ///< no bucket
  static constexpr std::size_t max_given = 4096;            ///< chunks, copied in a millisecond

  bucket_queue() = default;
  /// width     width of a bucket; infinity: all entries are in bucket 0
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
    constexpr double max_bucket = 0x1p62;
    return static_cast<std::uint64_t>(
        std::min(static_cast<double>(distance) * per_width_, max_bucket));
  }

  /// The number of entries, by counting chunks.
  [[nodiscard]] std::size_t size() const {
    auto all = early_.size();
    for (const auto& l : near_) all += l.size();
    for (const auto& l : far_) all += l.size();
    return all;
  }

  /// The first bucket that has entries, or `none`.
  [[nodiscard]] std::uint64_t first_bucket() {
    if (early_.first != nullptr) [[unlikely]]
      return first_early_;
    for (auto word = first_near_ / 64; word < used_.size(); ++word) {
      if (used_[word] == 0) continue;
      first_near_ = 64 * word + static_cast<std::uint64_t>(std::countr_zero(used_[word]));
      return base_ + first_near_;
    }
    first_near_ = window - 1;
    return far_used_ == 0 ? none : first_of_far_[first_far()];
  }

  /// Removes and returns a chunk of the first bucket that has entries, if that bucket is before
  /// `end`; else nothing. Valid until the next call.
  ///
  /// end       if `end` is smaller than in an earlier call, entries from `end` on may be returned
  [[nodiscard]] std::span<const Entry> take(std::uint64_t end) {
    if (taken_.chunk) recycle(std::exchange(taken_, {}).chunk);
    const auto bucket = first_bucket();
    if (bucket >= end) return {};
    if (bucket >= base_ + window) move_window(bucket);
    taken_ = take_chunk(early_.first ? early_ : near_[first_near_]);
    return taken_.entries();
  }

  /// Appends half of the chunks of the first bucket, but at most max_given, or half of its only
  /// chunk, to `to` and removes them, if the bucket is before `end`.
  void give_half(std::uint64_t end, std::vector<Entry>& to) {
    constexpr std::size_t worth_giving = 8;
    if (first_bucket() >= std::min(end, base_ + window)) return;
    auto& from = early_.first ? early_ : near_[first_near_];
    if (from.first == from.last) {
      const auto entries = from.head().entries();
      if (entries.size() < worth_giving) return;
      const auto given = entries.subspan(entries.size() / 2);
      to.insert(to.end(), given.begin(), given.end());
      from.at -= given.size();
      return;
    }
    std::size_t chunks = 0;
    for (const auto* c = from.first; c != nullptr && chunks < 2 * max_given; c = c->next) ++chunks;
    chunks /= 2;
    to.reserve(to.size() + chunks * room);  // entries of a removed chunk have no other place
    for (; chunks > 0; --chunks) {
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
    Entry *at = nullptr, *end = nullptr;  // position of the next entry; end of its chunk
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

  // log2(width) if the width is a power of two from 2^0 to 2^31, else -1.
  static int shift_of(double width) {
    const bool fits = width >= 1 && width <= 0x1p31;
    const auto whole = fits ? static_cast<std::uint64_t>(width) : 0;
    const bool power = std::has_single_bit(whole) && static_cast<double>(whole) == width;
    return power ? std::countr_zero(whole) : -1;
  }

  [[gnu::noinline]] void push_elsewhere(std::uint64_t bucket, const Entry& e) {
    if (bucket >= base_) return add(bucket, e);
    first_early_ = std::min(first_early_, bucket);
    append(early_, e);
  }

  // Adds an entry of a bucket that is not before the window.
  void add(std::uint64_t bucket, const Entry& e) {
    const auto i = bucket ^ base_;
    if (i >= window) [[unlikely]] {
      const auto level = static_cast<std::size_t>(std::bit_width(i / window)) - 1;
      auto& smallest = first_of_far_[level];
      const bool first = (far_used_ >> level & 1) == 0;
      smallest = first ? bucket : std::min(smallest, bucket);
      far_used_ |= std::uint64_t{1} << level;
      return append(far_[level], e);
    }
    auto& to = near_[i];
    if (to.at == to.end) [[unlikely]] {
      first_near_ = std::min(first_near_, i);
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
      first_early_ = none;
    } else {
      used_[first_near_ / 64] &= ~(std::uint64_t{1} << (first_near_ % 64));
    }
    return taken;
  }

  [[nodiscard]] std::size_t first_far() const {
    return static_cast<std::size_t>(std::countr_zero(far_used_));
  }

  // Moves the window to the first bucket that has entries. Its list contains all entries of the new
  // window.
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
    first_near_ = bucket - base_;
  }

  double per_width_ = 0;
  int shift_ = -1;
  std::uint64_t base_ = 0;        // first bucket of the window, a multiple of its size
  std::uint64_t first_near_ = 0;  // position in the window; buckets before it are empty
  std::vector<list> near_;        // buckets of the window
  std::array<std::uint64_t, window / 64> used_{};  // bits: which of them have entries
  list early_;                                     // entries before the window
  std::uint64_t first_early_ = none;
  std::array<list, 64> far_;  // entries beyond the window
  std::array<std::uint64_t, 64> first_of_far_{};
  std::uint64_t far_used_ = 0;
  filled taken_;
  chunk_of_entries* free_ = nullptr;
  std::shared_ptr<hw::page_source> memory_;
  std::vector<hw::page_buffer<chunk_of_entries>> blocks_;
};

}  // namespace cairn::traverse
