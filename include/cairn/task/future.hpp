// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <coroutine>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/task/future_state.hpp>
#include <cairn/task/scheduler.hpp>
#include <cairn/task/task.hpp>

namespace cairn::task {

namespace detail {

/// Destroys a task that has ended and has no future. Its exception fails the world.
template <class T>
void destroy_dropped(promise<T>& t) noexcept {
  if (auto error = t.error()) t.context->owner->host().failed(std::move(error));
  t.self.destroy();
}

template <class T>
void spawned_ended(promise_base& t) noexcept {
  auto& c = *t.context;
  const auto then = future_state(t.waiter).end();
  if (then.resumes != nullptr) c.owner->ready(c.worker, *then.resumes);
  if (then.destroys) destroy_dropped(static_cast<promise<T>&>(t));  // otherwise its future may, now
}

}  // namespace detail

/// The future result of a spawned task. Awaited once, by one task of the same rank; a default one,
/// or one that was moved from, is empty and not awaited (contract_violation).
///
/// If a future is destroyed without being awaited, its task continues, and an exception of the task
/// fails the world, because nothing awaits the task. A future does not outlive the run of tasks in
/// which it was made.
template <class T>
class [[nodiscard("co_await it, or call detach()")]] future {
 public:
  future() = default;
  explicit future(std::coroutine_handle<detail::promise<T>> frame) noexcept : frame_(frame) {}
  future(future && other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  future& operator=(future&& other) noexcept {
    future(std::move(other)).swap(*this);
    return *this;
  }
  ~future() { detach(); }
  void swap(future & other) noexcept { std::swap(frame_, other.frame_); }

  /// Whether the task has ended.
  [[nodiscard]] bool ended() const {
    CAIRN_EXPECTS(frame_, "an empty future has no task");
    return future_state(frame_.promise().waiter).ended();
  }

  /// Lets the task continue without this future.
  void detach() noexcept {
    if (!frame_) return;
    const auto frame = std::exchange(frame_, nullptr);
    auto& t = frame.promise();
    // Until the task starts, its worker may give it to another one.
    auto* const c = std::atomic_ref(t.context).load(std::memory_order_relaxed);
    if (c->owner->destroying()) return detail::destroy(frame);
    c->frames.mark_root(frame.address(), static_cast<promise_base*>(&t));
    if (future_state(t.waiter).drop()) detail::destroy_dropped(t);
  }

  [[nodiscard]] auto operator co_await() const {
    CAIRN_EXPECTS(frame_, "an empty future has no task to await");
    return awaiter{frame_};
  }

 private:
  struct awaiter {
    std::coroutine_handle<detail::promise<T>> frame;
    [[nodiscard]] bool await_ready() const noexcept {
      return future_state(frame.promise().waiter).ended();
    }
    template <task_promise P>
    bool await_suspend(std::coroutine_handle<P> h) const {
      return future_state(frame.promise().waiter).wait(h.promise());
    }
    T await_resume() const { return frame.promise().take(); }
  };

  std::coroutine_handle<detail::promise<T>> frame_;
};

/// co_await spawn(t): starts a task on any worker of the rank, and returns its future at once.
template <class T>
class [[nodiscard("co_await it")]] spawn {
 public:
  explicit spawn(task<T> t) : task_(std::move(t)) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task_promise P>
  bool await_suspend(std::coroutine_handle<P> h) {
    CAIRN_EXPECTS(task_ && task_.promise().at == promise_base::phase::created,
                  "a task is started once");
    task_.promise().on_finish = &detail::spawned_ended<T>;
    auto& c = *h.promise().context;
    c.owner->start(c.worker, task_.promise());
    started_ = task_.release();
    return false;
  }
  [[nodiscard]] future<T> await_resume() const noexcept { return future<T>(started_); }

 private:
  task<T> task_;
  std::coroutine_handle<detail::promise<T>> started_;
};

}  // namespace cairn::task
