// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cairn::traverse {

/// The entries of one worker by distance: a binary heap, with the interface of bucket_queue. All
/// entries are in bucket 0.
///
/// Work      O(log n) per entry
/// Thread-safety: one worker at a time.
template <class Entry>
class heap_queue {
 public:
  using entry = Entry;
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  std::uint64_t push(const Entry& e) {
    heap_.push_back(e);
    std::push_heap(heap_.begin(), heap_.end(), later);
    return 0;
  }
  [[nodiscard]] std::uint64_t least() const { return heap_.empty() ? none : 0; }

  /// Takes out a few entries of least distance, nearest first. Valid until the next call.
  [[nodiscard]] std::span<const Entry> take(std::uint64_t /*end*/) {
    taken_.clear();
    while (!heap_.empty() && taken_.size() < at_once) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      taken_.push_back(heap_.back());
      heap_.pop_back();
    }
    return taken_;
  }
  [[nodiscard]] std::span<const Entry> next() const { return {}; }

  /// Moves half of the entries, among them none of the nearest, to the end of `to`.
  void give_half(std::uint64_t /*end*/, std::vector<Entry>& to) {
    constexpr std::size_t worth_giving = 8;
    if (heap_.size() < worth_giving) return;
    const auto half = heap_.begin() + static_cast<std::ptrdiff_t>(heap_.size() / 2);
    to.insert(to.end(), half, heap_.end());
    heap_.erase(half, heap_.end());  // the first half of a heap is one
  }

 private:
  // One entry at a time would be the best order, and a group costs less per entry.
  static constexpr std::size_t at_once = 8;
  static bool later(const Entry& a, const Entry& b) { return a.distance > b.distance; }

  std::vector<Entry> heap_, taken_;
};

}  // namespace cairn::traverse
