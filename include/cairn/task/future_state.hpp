// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <cairn/base/contract.hpp>
#include <cairn/task/promise.hpp>

namespace cairn::task {

/// What a spawned task and its future agree on, in the task's word `waiter`: null while it runs and
/// nothing waits for it, the task that waits, or one of two marks.
///
///   word       end()              wait(t)             drop()
///   null       ended, nothing     t, and t suspends   dropped
///   a task     ended, resume it   refused             not called: the task holds the future
///   ended      not called         t goes on           destroy
///   dropped    destroy            not called          not called
///
/// Each function is one atomic step. Who is told to destroy the frame may, because the other side
/// does not touch it any more.
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
  /// The future is gone. Returns whether the caller destroys the frame.
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
