// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>

#include <cairn/base/types.hpp>

namespace cairn::task {

struct worker_context;
class scheduler;

/// The part of every task's promise that the scheduler uses. The members are for the layer `task`;
/// an awaiter of another layer constructs a `suspended` from it.
struct promise_base {
  promise_base() = default;
  promise_base(const promise_base&) = delete;
  promise_base& operator=(const promise_base&) = delete;

  /// The progress of the task.
  enum class phase : std::uint8_t {
    created,    ///< not started: may move to another worker
    nested,     ///< started by the task that awaits it, which has not suspended itself yet
    suspended,  ///< started; its end resumes its waiter
    finished
  };

  std::coroutine_handle<> self;
  /// The context of the worker on which the task runs; before the task starts, of the worker that
  /// created or received it.
  worker_context* context = nullptr;
  /// The task that awaits this one; for a spawned task see future.hpp.
  std::atomic<promise_base*> waiter{nullptr};
  promise_base* next = nullptr;  // the next task in the list that holds this one; if `awaits`, the
                                 // task that it awaits
  /// Called when it has finished, instead of resuming `waiter`. It may destroy the task.
  void (*on_finish)(promise_base&) noexcept = nullptr;
  void* finish_data = nullptr;
  phase at = phase::created;
  bool awaits = false;

  /// Frames come from the pool of the worker that runs the creating task; from malloc if no task
  /// runs.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* frame, std::size_t bytes) noexcept;
};

template <class P>
concept task_promise = std::derived_from<P, promise_base>;

/// Names a suspended task. 8 bytes, which may be stored anywhere; null by default.
class suspended {
 public:
  suspended() = default;
  explicit suspended(promise_base& p) noexcept : promise_(&p) {}

  [[nodiscard]] explicit operator bool() const noexcept { return promise_ != nullptr; }
  /// The worker that suspended it, on which it resumes.
  [[nodiscard]] worker_t worker() const noexcept;
  /// The scheduler of its rank.
  [[nodiscard]] scheduler& of() const noexcept;
  /// of().ready(here, *this)
  void resume_later(worker_t here) const;

  [[nodiscard]] promise_base& promise() const noexcept { return *promise_; }

 private:
  promise_base* promise_ = nullptr;
};

/// Destroys the task that a suspended one awaits, that which this one awaits and so on, the deepest
/// first and without recursion: there may be more than the stack has room for. The owners of their
/// frames release the memory. A chain in which each awaits several tasks, or a future, still takes
/// a part of the stack for each.
void destroy_awaited(promise_base& by) noexcept;

/// Whether the caller runs inside a task.
[[nodiscard]] bool inside_task() noexcept;
/// Throws    contract_violation inside a task: it awaits, and never calls a function that blocks
void expect_no_task();

}  // namespace cairn::task
