// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <cairn/base/contract.hpp>
#include <cairn/task/promise.hpp>

namespace cairn::task {

/// The state that a spawned task and its future share, in the task's word `waiter`: null while the
/// task runs and nothing waits for it, the task that waits, or one of two marks.
///
///   word       end()              wait(t)             drop()
///   null       ended, nothing     t, and t suspends   dropped
///   a task     ended, resume it   refused             not called: the task holds the future
///   ended      not called         t goes on           destroy
///   dropped    destroy            not called          not called
///
/// Each function is one atomic step. The side that is told to destroy the frame may do so, because
/// the other side no longer accesses it.
class future_state {
 public:
  explicit future_state(std::atomic<promise_base*>& word) noexcept : word_(word) {}

  struct after_end {
    promise_base* resumes = nullptr;
    bool destroys = false;
  };
  /// The task has ended.
  [[nodiscard]] after_end end() noexcept {
    auto* const before = word_.exchange(mark(1), std::memory_order_acq_rel);
    if (before == mark(2)) return {.destroys = true};
    return {.resumes = before};
  }
  [[nodiscard]] bool ended() const noexcept {
    return word_.load(std::memory_order_acquire) == mark(1);
  }
  /// Task t awaits the future. Returns whether it suspends.
  [[nodiscard]] bool wait(promise_base& t) {
    promise_base* before = nullptr;
    const bool waits = word_.compare_exchange_strong(before, &t, std::memory_order_acq_rel,
                                                     std::memory_order_acquire);
    CAIRN_EXPECTS(waits || before == mark(1), "a future is awaited by one task");
    return waits;
  }
  /// The future was destroyed. Returns whether the caller destroys the frame.
  [[nodiscard]] bool drop() noexcept {
    return word_.exchange(mark(2), std::memory_order_acq_rel) != nullptr;
  }

 private:
  static promise_base* mark(std::uintptr_t n) noexcept {
    return reinterpret_cast<promise_base*>(n);
  }
  std::atomic<promise_base*>& word_;
};

}  // namespace cairn::task
