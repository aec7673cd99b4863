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
#include <cairn/traverse/chunk.hpp>

namespace cairn::traverse {

/// A growing list of vertices to which all workers append. It is read in windows: a window contains
/// the vertices appended since the previous window, in unspecified order.
///
/// Memory    `capacity` ids, paged in when used, and one small block per worker
/// Thread-safety: worker k calls add(k, v); worker 0 calls the others while no worker adds.
template <class Id>
class vertex_list {
  struct block {
    std::size_t size = 0;
    std::array<Id, 1000> ids;
  };

 public:
  vertex_list(world& w, std::size_t capacity)
      : ids_(capacity, w.memory()), blocks_(static_cast<std::size_t>(w.workers()), w.memory()) {
    for (auto& b : blocks_) b.value.size = 0;
  }

  void add(worker_t k, Id v) { add(block_of(k), v); }

  /// add() for one worker, for loops.
  class adder {
   public:
    adder(vertex_list& list, worker_t k) : list_(list), block_(list.block_of(k)) {}
    void operator()(Id v) const { list_.add(block_, v); }

   private:
    vertex_list& list_;
    block& block_;
  };

  /// Ends the window being written and makes it the current one.
  std::span<const Id> slide() {
    for (auto& b : blocks_) spill(b.value);
    begin_ = std::exchange(end_, tail_.load(std::memory_order_relaxed));
    return window();
  }
  /// Adds the vertices appended since slide() to the current window.
  void extend() {
    for (auto& b : blocks_) spill(b.value);
    end_ = tail_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::span<const Id> window() const {
    return ids_.span().subspan(begin_, end_ - begin_);
  }

  /// Removes all vertices.
  void clear() {
    begin_ = end_ = 0;
    tail_.store(0, std::memory_order_relaxed);
  }

 private:
  block& block_of(worker_t k) { return blocks_[static_cast<std::size_t>(k)].value; }

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
  hw::page_buffer<padded<block>> blocks_;  // by worker
  std::atomic<std::size_t> tail_{0};
  std::size_t begin_ = 0, end_ = 0;
};

/// A list of vertices that all workers filter repeatedly.
///
/// Memory    twice `capacity` ids, paged in when used
/// Thread-safety: worker k calls add(k, v); worker 0 calls keep_if().
template <class Id>
class shrinking_list {
 public:
  shrinking_list(world& w, std::size_t capacity) : w_(w), lists_{{{w, capacity}, {w, capacity}}} {}

  void add(worker_t k, Id v) { lists_[now_].add(k, v); }

  /// Calls f(worker, v) for each vertex and keeps those for which it returns true.
  template <class F>
  void keep_if(F&& f, double ns_each = 5) {
    auto &now = lists_[now_], &kept = lists_[1 - now_];
    const auto list = now.slide();
    w_.parallel_for(
        list.size(),
        [&](worker_t k, std::size_t begin, std::size_t end) {
          const typename vertex_list<Id>::adder keep(kept, k);
          for (const Id v : list.subspan(begin, end - begin)) {
            if (f(k, v)) keep(v);
          }
        },
        chunk_of(w_, list.size(), ns_each));
    now.clear();
    now_ = 1 - now_;
  }

 private:
  world& w_;
  std::array<vertex_list<Id>, 2> lists_;
  std::size_t now_ = 0;
};

}  // namespace cairn::traverse
