// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include <cairn/core/world.hpp>
#include <cairn/hw/page_pool.hpp>

namespace cairn::traverse {

/// One bit per vertex, initially 0. Reads are plain; set() is plain, set_shared() atomic.
class bit_set {
 public:
  bit_set() = default;
  bit_set(world& w, std::size_t bits) : words_((bits + 63) / 64, w.memory()) { clear(); }

  [[nodiscard]] bool operator[](std::size_t i) const { return (words_[i / 64] >> (i % 64)) & 1; }
  /// Requires one writer per word.
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  /// Allows several writers per word.
  void set_shared(std::size_t i) {
    std::atomic_ref(words_[i / 64])
        .fetch_or(std::uint64_t{1} << (i % 64), std::memory_order_relaxed);
  }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  [[nodiscard]] bool empty() const noexcept { return words_.empty(); }
  [[nodiscard]] bool any() const {
    return std::any_of(words_.begin(), words_.end(), [](auto word) { return word != 0; });
  }
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_.span(); }
  [[nodiscard]] std::span<std::uint64_t> words() { return words_.span(); }

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
  hw::page_buffer<std::uint64_t> words_;
};

}  // namespace cairn::traverse
