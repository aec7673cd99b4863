// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/hw/pages.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn::task {

/// Memory for the coroutine frames that one worker allocates. Frames of up to 2 KiB come from lists
/// of free blocks, by size; no lock and no malloc is on that path. Any worker may release a frame:
/// its block returns to the pool that allocated it.
///
/// A frame may be marked as a root: a task that no other frame owns. The pool finds its live roots,
/// so that the scheduler can destroy them without a list of its own.
///
/// Memory    blocks are kept until the pool is destroyed; 16 bytes per frame beyond the frame
/// Thread-safety  allocate() by the owning worker; release() and the marks by any; the others while
///           no other thread uses the pool
class frame_pool {
 public:
  frame_pool() = default;
  ~frame_pool();
  frame_pool(const frame_pool&) = delete;
  frame_pool& operator=(const frame_pool&) = delete;

  /// `bytes` aligned to 16.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Releases a frame of that size. `here` is the pool of the calling worker, or null.
  static void release(void* frame, std::size_t bytes, frame_pool* here) noexcept;
  /// For frames that no worker allocates.
  [[nodiscard]] static void* allocate_without_pool(std::size_t bytes);

  static void mark_root(void* frame, bool is_root) noexcept {
    header_of(frame)->root = is_root ? frame : nullptr;
  }
  /// Calls f(frame) for each live root of this pool; f may release frames.
  void for_each_root(const std::function<void(void*)>& f);

  /// Frames that are allocated and not released.
  [[nodiscard]] std::uint64_t live() const noexcept;
  /// Bytes of memory taken from the system.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct header {
    frame_pool* owner;  // null: allocated without a pool
    void* root;
  };
  static_assert(sizeof(header) == 16);
  struct free_block {
    free_block* next;
    std::size_t size_class;
  };
  // Precedes the header of a frame that is too large for a block.
  struct large_frame {
    large_frame* next;
    large_frame* previous;
  };

  // A block begins on a cache line, which also holds the first part of the frame.
  static constexpr std::size_t step = cache_line, num_classes = 33;
  static constexpr std::size_t first_slab_bytes = 4096, largest_slab_bytes = hw::huge_page_bytes;

  struct size_class {
    free_block* free = nullptr;
    std::byte* at = nullptr;  // blocks that were never used, up to `end`
    std::byte* end = nullptr;
    std::vector<hw::pages> slabs;
  };

  [[nodiscard]] static std::size_t class_of(std::size_t bytes) noexcept {
    return (bytes + sizeof(header) + step - 1) / step;
  }
  [[nodiscard]] static header* header_of(void* frame) noexcept {
    return reinterpret_cast<header*>(static_cast<std::byte*>(frame) - sizeof(header));
  }
  [[nodiscard]] void* refill(std::size_t k);
  [[nodiscard]] void* carve(std::size_t k);
  void collect_remote() noexcept;
  void put_back(void* frame, std::size_t k) noexcept;
  [[nodiscard]] void* allocate_large(std::size_t bytes);
  void release_large(void* frame) noexcept;

  std::array<size_class, num_classes> classes_;
  std::uint64_t allocated_ = 0, released_ = 0;
  std::size_t bytes_ = 0;
  large_frame* large_ = nullptr;
  // Written by other workers.
  alignas(cache_line) std::atomic<free_block*> remote_{nullptr};
  spin_lock large_guard_;
  std::uint64_t num_large_ = 0;
};

}  // namespace cairn::task
