// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <utility>

#include <cairn/task/promise.hpp>

namespace cairn::task {

/// Whether the caller is a destructor of a task that the scheduler destroys. Then the tasks that
/// wait are destroyed, too, and must not be touched.
[[nodiscard]] bool destroying_tasks() noexcept;

/// Suspended tasks of one rank, first in first out. The caller serialises the calls.
///
/// A task that is destroyed does not leave the list: after cancel(), for example, an object that it
/// has waited for may only be destroyed.
class waiting_tasks {
 public:
  void add(promise_base& t) noexcept {
    t.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &t;
    last_ = &t;
  }
  /// Removes and returns the first; null if there is none.
  [[nodiscard]] promise_base* take() noexcept {
    auto* const t = first_;
    if (t == nullptr) return nullptr;
    if (destroying_tasks()) [[unlikely]] {  // such as a destructor that returns a permit
      first_ = last_ = nullptr;
      return nullptr;
    }
    first_ = t->next;
    if (first_ == nullptr) last_ = nullptr;
    return t;
  }
  /// Removes and returns all. take() then removes tasks from the returned list.
  [[nodiscard]] waiting_tasks take_all() noexcept { return std::exchange(*this, {}); }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

 private:
  promise_base* first_ = nullptr;
  promise_base* last_ = nullptr;
};

/// Suspends the awaiting task if of.waits(task) returns true. waits() then has added it to a list.
template <class Awaited>
struct waiting_awaiter {
  Awaited& of;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task_promise P>
  bool await_suspend(std::coroutine_handle<P> h) const noexcept {
    return of.waits(h.promise());
  }
  void await_resume() const noexcept {}
};

/// Makes a suspended task ready, from any thread.
void wake(promise_base& t);
/// Makes all of them ready.
inline void wake_all(waiting_tasks all) {
  while (auto* const t = all.take()) wake(*t);
}

}  // namespace cairn::task
