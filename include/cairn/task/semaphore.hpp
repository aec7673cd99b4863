// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>

#include <cairn/task/promise.hpp>
#include <cairn/task/spin_lock.hpp>
#include <cairn/task/waiting_tasks.hpp>

namespace cairn::task {

/// A number of permits: co_await s takes one, and waits while there is none. Tasks get permits in
/// the order in which they began to wait. After a run that failed or was cancelled, a semaphore
/// that its tasks waited for may only be destroyed.
class semaphore {
 public:
  explicit semaphore(std::uint64_t permits) noexcept : permits_(permits) {}
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  /// Returns a permit, or adds one. Any thread.
  void release() {
    promise_base* first = nullptr;
    {
      const std::lock_guard held(guard_);
      first = waiting_.take();
      if (first == nullptr) ++permits_;
    }
    if (first != nullptr) wake(*first);
  }

  [[nodiscard]] auto operator co_await() noexcept { return waiting_awaiter<semaphore>{*this}; }

 private:
  friend waiting_awaiter<semaphore>;
  [[nodiscard]] bool waits(promise_base& t) noexcept {
    const std::lock_guard held(guard_);
    if (permits_ > 0) {
      --permits_;
      return false;
    }
    waiting_.add(t);
    return true;
  }

  unpadded_spin_lock guard_;
  std::uint64_t permits_;
  waiting_tasks waiting_;
};

}  // namespace cairn::task
