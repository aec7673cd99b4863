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

/// The unit in which the system maps memory.
[[nodiscard]] std::size_t page_bytes() noexcept;
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Zero-filled memory for data with random accesses. From 2 MiB on, whole pages, aligned to 2 MiB
/// if the limit of addresses allows, for which the kernel is asked to use huge pages (up to twice
/// as fast on random access). Smaller data is heap memory aligned to a cache line.
///
/// Mapped memory uses no physical memory until it is touched, and is placed near the core that
/// touches it first: see touch_pages.
/// Throws    system_failure with the size if the allocation fails
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
  /// Whether the memory consists of mapped pages, so that touch_pages and shrink have an effect.
  [[nodiscard]] bool mapped() const noexcept { return mapped_bytes_ != 0; }

  /// Keeps the first `bytes` (<= bytes()) in place. Mapped pages wholly beyond them are returned to
  /// the system; heap memory is kept until the end.
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

/// Makes each page of [begin, begin + bytes) present and writable without changing its contents,
/// also while others write to it. Disjoint ranges per worker give parallel first touch. After a
/// page fault has aborted a hardware transaction, the next attempt does not fault.
/// Cost about one atomic write per 4 KiB, plus the faults.
void touch_pages(void* begin, std::size_t bytes) noexcept;

/// Returns the pages that lie wholly in [begin, begin + bytes) to the system; they read as zeros
/// afterwards. For private memory that malloc would keep after it is freed.
void drop_pages(void* begin, std::size_t bytes) noexcept;

/// A source of pages: see page_pool.
class page_source {
 public:
  virtual ~page_source() = default;
  /// At least `bytes` bytes; their contents are undetermined.
  /// Throws    system_failure with the size if the allocation fails
  [[nodiscard]] virtual pages take(std::size_t bytes) = 0;
  /// Takes back what take() returned.
  virtual void give_back(pages&& memory) noexcept = 0;
};

/// A fixed-size array of T in `pages`. Move-only. All bytes are initially zero, unless the pages
/// come from a source, which reuses pages.
template <class T>
class page_buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                "elements are bytes, without constructor and destructor");
  static_assert(alignof(T) <= cache_line);

 public:
  using value_type = T;

  page_buffer() = default;
  /// Throws    system_failure with the size if the allocation fails
  explicit page_buffer(std::size_t count) : memory_(bytes_for(count)), size_(count) {}
  /// Elements with undetermined values; their memory returns to `source` at the end.
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

  /// Keeps the first `count` (<= size()) elements in place; see pages::shrink.
  void shrink(std::size_t count) noexcept {
    if (!source_) memory_.shrink(count * sizeof(T));
    size_ = count;
  }

 private:
  static std::size_t bytes_for(std::size_t count) noexcept {
    constexpr auto max = std::numeric_limits<std::size_t>::max();
    return count > max / sizeof(T) ? max : count * sizeof(T);
  }

  void give_back() noexcept {
    if (source_) source_->give_back(std::move(memory_));
  }

  std::shared_ptr<page_source> source_;
  pages memory_;
  std::size_t size_ = 0;
};

}  // namespace cairn::hw
