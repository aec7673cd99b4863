// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <utility>

#include <cairn/base/types.hpp>
#include <cairn/core/world.hpp>
#include <cairn/hw/page_pool.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::traverse {

/// A growing list of vertices that all workers append to, read in windows: what was appended
/// since the previous window is the next one. The order within a window is not determined.
///
/// Memory    `capacity` ids, touched as they are used, and one small block per worker
/// Thread-safety: add() by worker w itself; the others by worker 0 while nobody adds.
template <class Id>
class vertex_list {
  struct block {
    std::size_t size = 0;
    std::array<Id, 1000> ids;
  };

 public:
  vertex_list(world& w, std::size_t capacity) : ids_(capacity, w.memory()), blocks_(w.workers()) {}

  void add(worker_t w, Id v) { add(blocks_[w], v); }

  /// add() by one worker, for loops.
  class adder {
   public:
    adder(vertex_list& list, worker_t w) : list_(list), block_(list.blocks_[w]) {}
    void operator()(Id v) const { list_.add(block_, v); }

   private:
    vertex_list& list_;
    block& block_;
  };

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
  void add(block& b, Id v) {
    if (b.size == b.ids.size()) [[unlikely]]
      spill(b);
    b.ids[b.size++] = v;
  }

  [[gnu::noinline]] void spill(block& b) {
    const auto at = tail_.fetch_add(b.size, std::memory_order_relaxed);
    std::copy_n(b.ids.begin(), b.size, ids_.begin() + at);
    b.size = 0;
  }

  hw::page_buffer<Id> ids_;
  task::per_worker<block> blocks_;
  std::atomic<std::size_t> tail_{0};
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace cairn::traverse
