// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>

#include <cairn/core/world.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::algo {

/// A growing list of vertices that all workers append to, read in windows: what was appended
/// since the previous window is the next one. Order within a window is not determined.
///
/// Memory    `capacity` ids, touched as they are used, and one small block per worker
/// Thread-safety: add() by worker w itself; the others by worker 0 while nobody adds.
template <class Id>
class sliding_list {
 public:
  sliding_list(int workers, std::size_t capacity) : ids_(capacity), blocks_(workers) {}

  void add(worker_t w, Id v) {
    auto& b = blocks_[w];
    if (b.size == b.ids.size()) spill(b);
    b.ids[b.size++] = v;
  }

  /// Ends the window that is being written and makes it the one that is read.
  std::span<const Id> slide() {
    for (auto& b : blocks_) spill(b.value);
    begin_ = std::exchange(end_, tail_.load(std::memory_order_relaxed));
    return window();
  }
  [[nodiscard]] std::span<const Id> window() const {
    return ids_.span().subspan(begin_, end_ - begin_);
  }

  /// Forgets all windows.
  void clear() {
    begin_ = end_ = 0;
    tail_.store(0, std::memory_order_relaxed);
  }

 private:
  struct block {
    std::size_t size = 0;
    std::array<Id, 1000> ids;
  };

  [[gnu::noinline]] void spill(block& b) {  // rare: it would take add()'s registers
    const auto at = tail_.fetch_add(b.size, std::memory_order_relaxed);
    std::copy_n(b.ids.begin(), b.size, ids_.begin() + at);
    b.size = 0;
  }

  hw::page_buffer<Id> ids_;
  task::per_worker<block> blocks_;
  std::atomic<std::size_t> tail_{0};
  std::size_t begin_ = 0, end_ = 0;
};

/// One bit per vertex. Plain reads; writes by test-free OR, atomic only where asked.
class bit_set {
 public:
  bit_set() = default;
  explicit bit_set(std::size_t bits) : words_((bits + 63) / 64) {}

  [[nodiscard]] bool operator[](std::size_t i) const { return (words_[i / 64] >> (i % 64)) & 1; }
  /// For one writer per word.
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  /// For several.
  void set_shared(std::size_t i) {
    std::atomic_ref(words_[i / 64])
        .fetch_or(std::uint64_t{1} << (i % 64), std::memory_order_relaxed);
  }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  [[nodiscard]] bool any() const {
    return std::any_of(words_.begin(), words_.end(), [](auto word) { return word != 0; });
  }
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }
  [[nodiscard]] std::vector<std::uint64_t>& storage() { return words_; }

  /// Calls f(i) for each set bit i of words [first_word, last_word), ascending.
  template <class F>
  void for_each(std::size_t first_word, std::size_t last_word, F&& f) const {
    for (std::size_t k = first_word; k < last_word; ++k) {
      for (auto word = words_[k]; word != 0; word &= word - 1) {
        f(k * 64 + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace cairn::algo
