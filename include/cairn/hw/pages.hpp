// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <cairn/base/types.hpp>

namespace cairn::hw {

inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Zero-filled memory for data that threads reach at random: from 2 MB on, whole pages aligned
/// to 2 MB that the kernel is asked to back by huge ones (up to twice as fast on random
/// access); below, heap memory aligned to a cache line.
///
/// Big memory takes no room until it is touched, and lies near the core that touches it first:
/// see touch_pages.
/// Throws    system_failure with the number of bytes if they cannot be had
class pages {
 public:
  pages() = default;
  explicit pages(std::size_t bytes);
  ~pages() { release(); }
  pages(pages&& other) noexcept { swap(other); }
  pages& operator=(pages&& other) noexcept {
    pages(std::move(other)).swap(*this);
    return *this;
  }

  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// True if the memory came as pages, so that touch_pages and shrink matter.
  [[nodiscard]] bool mapped() const noexcept { return mapped_bytes_ != 0; }

  /// Keeps the first `bytes` (<= bytes()) where they are; mapped pages wholly beyond them go
  /// back to the system, heap memory goes when all goes.
  void shrink(std::size_t bytes) noexcept;

  void swap(pages& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
  }

 private:
  void release() noexcept;

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t mapped_bytes_ = 0;
};

/// Makes sure that each page of [begin, begin + bytes) is there and writable, without changing
/// what it holds, also while others write to it. A range of its own per worker gives parallel
/// first touch; after a hardware transaction died of a page fault, the next one will not.
/// Cost about one atomic write per 4 KB beyond the faults.
void touch_pages(void* begin, std::size_t bytes) noexcept;

/// Gives the pages that lie wholly in [begin, begin + bytes) back to the system; they read as
/// zeros afterwards. For private memory that malloc would keep for itself after it is freed.
void drop_pages(void* begin, std::size_t bytes) noexcept;

/// Where pages come from and go to: see page_pool.
class page_source {
 public:
  virtual ~page_source() = default;
  /// At least so many bytes; what they hold is not determined.
  /// Throws    system_failure with the number of bytes if they cannot be had
  [[nodiscard]] virtual pages take(std::size_t bytes) = 0;
  /// Takes back what take() returned.
  virtual void give(pages&& memory) noexcept = 0;
};

/// A fixed-size array of T in `pages`. Move-only. All bytes are zero at first, unless the pages
/// come from a source, which has used ones.
template <class T>
class page_buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "elements are bytes, without constructor and destructor");
  static_assert(alignof(T) <= cache_line);

 public:
  using value_type = T;

  page_buffer() = default;
  /// Throws    system_failure with the number of bytes if they cannot be had
  explicit page_buffer(std::size_t count) : memory_(bytes_for(count)), size_(count) {}
  /// Elements that hold anything; their memory goes back to `source` in the end.
  page_buffer(std::size_t count, std::shared_ptr<page_source> source)
      : source_(std::move(source)), memory_(source_->take(bytes_for(count))), size_(count) {}
  ~page_buffer() { give_back(); }
  page_buffer(page_buffer&& other) noexcept { swap(other); }
  page_buffer& operator=(page_buffer&& other) noexcept {
    page_buffer(std::move(other)).swap(*this);
    return *this;
  }

  void swap(page_buffer& other) noexcept {
    std::swap(source_, other.source_);
    memory_.swap(other.memory_);
    std::swap(size_, other.size_);
  }

  [[nodiscard]] T* data() noexcept { return static_cast<T*>(memory_.data()); }
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  [[nodiscard]] std::span<T> span() noexcept { return {data(), size_}; }
  [[nodiscard]] std::span<const T> span() const noexcept { return {data(), size_}; }

  /// touch_pages of elements [first, last): call it with disjoint ranges from several workers.
  void prefault(std::size_t first, std::size_t last) noexcept {
    touch_pages(data() + first, (last - first) * sizeof(T));
  }
  void prefault() noexcept { prefault(0, size_); }

  /// Keeps the first `count` (<= size()) elements where they are; see pages::shrink.
  void shrink(std::size_t count) noexcept {
    if (!source_) memory_.shrink(count * sizeof(T));
    size_ = count;
  }

 private:
  static std::size_t bytes_for(std::size_t count) noexcept {
    constexpr auto most = std::numeric_limits<std::size_t>::max();
    return count > most / sizeof(T) ? most : count * sizeof(T);
  }

  void give_back() noexcept {
    if (source_) source_->give(std::move(memory_));
  }

  std::shared_ptr<page_source> source_;
  pages memory_;
  std::size_t size_ = 0;
};

}  // namespace cairn::hw
