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
/// so that the scheduler can destroy them without a list of its own. The memory of a frame that is
/// destroyed before its owner's handle may be held until the owner looks.
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

  /// Marks a frame of any pool, for which for_each_root() calls f(root). A frame without a pool
  /// belongs to this one from now on.
  /// root      not null, with an even address
  void mark_root(void* frame, void* root) noexcept;
  /// Calls f(root) for each live root of this pool; f may release frames.
  void for_each_root(const std::function<void(void*)>& f);

  /// The next release() of a frame, which is no root, keeps its memory until release_held().
  static void hold(void* frame) noexcept { header_of(frame)->root = held; }
  /// Whether it was released and is held.
  [[nodiscard]] static bool is_held(void* frame) noexcept {
    const auto mark = header_of(frame)->root;
    return (mark & held) != 0 && mark != held;
  }
  static void release_held(void* frame, frame_pool* here) noexcept;

  /// Frames that are allocated and not released.
  [[nodiscard]] std::uint64_t live() const noexcept;
  /// Bytes of memory taken from the system.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct header {
    [[nodiscard]] frame_pool* owner() const noexcept {
      return reinterpret_cast<frame_pool*>(pool & ~listed);
    }
    [[nodiscard]] bool is_large() const noexcept { return (pool & listed) != 0; }

    std::uintptr_t pool;  // address | listed for a large frame; no address: it has no pool
    std::uintptr_t root;  // 0: none; odd: held, and twice the bytes once it is released
  };
  static_assert(sizeof(header) == 16);
  static constexpr std::uintptr_t listed = 1, held = 1;
  struct free_block {
    free_block* next;
    std::size_t size_class;
  };
  // Precedes the header of a frame that is too large for a block, or that no worker allocated.
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
  [[nodiscard]] static large_frame* large_of(void* frame) noexcept {
    return reinterpret_cast<large_frame*>(header_of(frame)) - 1;
  }
  void list(void* frame) noexcept;
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
