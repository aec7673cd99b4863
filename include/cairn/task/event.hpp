// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include <cairn/task/promise.hpp>
#include <cairn/task/spin_lock.hpp>
#include <cairn/task/waiting_tasks.hpp>

namespace cairn::task {

/// A flag that tasks wait for: co_await e resumes once e.set() was called. Any number of tasks of
/// one rank may wait. set() may be called by any thread, also in handlers. After a run that failed
/// or was cancelled, an event that its tasks waited for may only be destroyed.
class event {
 public:
  event() = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Resumes the tasks that wait. Those that wait later do not suspend, until reset().
  void set() {
    waiting_tasks waiting;
    {
      const std::lock_guard held(guard_);
      set_ = true;
      waiting = waiting_.take_all();
    }
    wake_all(waiting);
  }
  void reset() noexcept {
    const std::lock_guard held(guard_);
    set_ = false;
  }

  [[nodiscard]] auto operator co_await() noexcept { return waiting_awaiter<event>{*this}; }

 private:
  friend waiting_awaiter<event>;
  [[nodiscard]] bool waits(promise_base& t) noexcept {
    const std::lock_guard held(guard_);
    if (!set_) waiting_.add(t);
    return !set_;
  }

  unpadded_spin_lock guard_;
  bool set_ = false;
  waiting_tasks waiting_;
};

}  // namespace cairn::task
