// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/hw/pages.hpp>

namespace cairn::pgas {

/// One worker's lists of entries, one list per bin. Entries are appended to any bin, read bin by
/// bin, and cleared all at once. [Beamer17]
///
/// Trivially copyable entries are stored in blocks of the worker's slabs, whose memory is reused.
/// Other entries are stored in one vector per bin.
///
/// Memory    sizeof(Entry) per entry, and up to 520 entries per bin in use
template <class Entry>
class accumulator_bins {
 public:
  accumulator_bins() = default;
  explicit accumulator_bins(std::size_t num_bins) : bins_(num_bins) {}

  [[nodiscard]] std::size_t num_bins() const noexcept { return bins_.size(); }

  [[gnu::always_inline]] void append(std::size_t i, Entry&& e) {
    auto& b = bins_[i];
    if (b.at == b.end) [[unlikely]] {
      extend(b);
    }
    *b.at++ = e;
  }

  /// Capacity of the blocks in use; at least the number of appended entries.
  [[nodiscard]] std::size_t entries() const noexcept { return blocks_used_ * block_entries; }

  /// Calls f(Entry&&) for each entry of a bin.
  template <class F>
  void each(std::size_t i, F&& f) {
    const auto& b = bins_[i];
    for (auto* const block : b.blocks) {
      auto* const end = block + block_entries == b.end ? b.at : block + block_entries;
      for (auto* e = block; e != end; ++e) f(std::move(*e));
    }
  }

  void clear() noexcept {
    for (auto& b : bins_) b.at = b.end = nullptr, b.blocks.clear();
    blocks_used_ = 0;
  }

 private:
  // Not a power of two, to avoid cache-set conflicts between the blocks of different bins.
  static constexpr std::size_t block_entries = 520, slab_blocks = 512;
  struct bin {
    Entry* at = nullptr;
    Entry* end = nullptr;
    std::vector<Entry*> blocks;
  };

  [[gnu::noinline]] void extend(bin& b) {
    const auto slab = blocks_used_ / slab_blocks, block = blocks_used_ % slab_blocks;
    if (slab == slabs_.size()) slabs_.emplace_back(slab_blocks * block_entries);
    auto* const first = slabs_[slab].data() + block * block_entries;
    b.blocks.push_back(first);  // may throw: the block is still unused
    b.at = first;
    b.end = first + block_entries;
    ++blocks_used_;
  }

  std::vector<bin> bins_;
  std::vector<hw::page_buffer<Entry>> slabs_;
  std::size_t blocks_used_ = 0;
};

template <class Entry>
requires(!std::is_trivially_copyable_v<Entry>) class accumulator_bins<Entry> {
 public:
  accumulator_bins() = default;
  explicit accumulator_bins(std::size_t num_bins) : bins_(num_bins) {}

  [[nodiscard]] std::size_t num_bins() const noexcept { return bins_.size(); }
  void append(std::size_t i, Entry&& e) {
    bins_[i].push_back(std::move(e));
    ++entries_;
  }
  [[nodiscard]] std::size_t entries() const noexcept { return entries_; }
  template <class F>
  void each(std::size_t i, F&& f) {
    for (auto& e : bins_[i]) f(std::move(e));
  }
  void clear() noexcept {
    for (auto& b : bins_) b.clear();
    entries_ = 0;
  }

 private:
  std::vector<std::vector<Entry>> bins_;
  std::size_t entries_ = 0;
};

}  // namespace cairn::pgas
