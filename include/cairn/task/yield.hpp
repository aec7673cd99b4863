// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>

#include <cairn/task/worker_context.hpp>

namespace cairn::task {

/// co_await yield(): the ready tasks of this worker run first, and messages are handled now and
/// then.
class [[nodiscard("co_await it")]] yield {
 public:
  yield() = default;  // here and below: clang-format takes a class without one for an object
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task_promise P>
  void await_suspend(std::coroutine_handle<P> h) const {
    h.promise().context->ready.push_back(&h.promise());
  }
  void await_resume() const noexcept {}
};

/// co_await pause(): the same, and messages are handled first. For tasks that compute for long.
class [[nodiscard("co_await it")]] pause {
 public:
  pause() = default;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task_promise P>
  void await_suspend(std::coroutine_handle<P> h) const {
    auto& c = *h.promise().context;
    c.ready.push_back(&h.promise());
    c.end_batch();
  }
  void await_resume() const noexcept {}
};

/// co_await current_worker(): the worker on which the task runs now and resumes later.
class [[nodiscard("co_await it")]] current_worker {
 public:
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task_promise P>
  bool await_suspend(std::coroutine_handle<P> h) noexcept {
    worker_ = h.promise().context->worker;
    return false;
  }
  [[nodiscard]] worker_t await_resume() const noexcept { return worker_; }

 private:
  worker_t worker_ = main_worker;
};

}  // namespace cairn::task
