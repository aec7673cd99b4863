// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>
#include <variant>

#include <cairn/base/contract.hpp>
#include <cairn/task/promise.hpp>
#include <cairn/task/worker_context.hpp>

namespace cairn::task {

template <class T = void>
class task;

namespace detail {

// Calls of tasks by tasks that are nested deeper go through the worker's loop, so that the stack is
// bounded.
inline constexpr unsigned deepest_nesting = 64;

inline void finish(promise_base& p) noexcept {
  if (p.at == promise_base::phase::nested) {  // the task that started it continues by itself
    p.at = promise_base::phase::finished;
    return;
  }
  p.at = promise_base::phase::finished;
  if (p.on_finish != nullptr) return p.on_finish(p);
  CAIRN_ASSERT(p.context->next == nullptr);
  auto* const waiter = p.waiter.load(std::memory_order_relaxed);
  waiter->awaits = false;
  p.context->next = waiter;
}

/// Runs the child until it ends or suspends itself; returns whether the parent must suspend.
inline bool start_nested(promise_base& child, promise_base& parent) {
  auto& c = *parent.context;
  child.context = &c;
  child.waiter.store(&parent, std::memory_order_relaxed);
  const auto parent_waits = [&] {
    child.at = promise_base::phase::suspended;
    parent.next = &child;
    parent.awaits = true;
    return true;
  };
  if (c.depth == deepest_nesting) [[unlikely]] {
    c.next = &child;
    return parent_waits();
  }
  child.at = promise_base::phase::nested;
  const auto limit = std::exchange(c.chain_limit, 0);  // no other task runs on top of the parent
  ++c.depth;
  child.self.resume();
  --c.depth;
  if (child.at == promise_base::phase::finished) {
    c.chain_limit = limit;
    return false;
  }
  return parent_waits();
}

/// By the owner of the frame.
template <class Promise>
void destroy(std::coroutine_handle<Promise> frame) noexcept {
  if (frame_pool::is_held(frame.address())) [[unlikely]] {
    auto* const c = current_context;
    return frame_pool::release_held(frame.address(), c != nullptr ? &c->frames : nullptr);
  }
  promise_base& t = frame.promise();
  if (t.at == promise_base::phase::suspended) [[unlikely]] {
    // Its waiter may live on, if another frame owns this one.
    auto* const waiter = t.waiter.load(std::memory_order_relaxed);
    if (t.on_finish == nullptr && waiter != nullptr) waiter->awaits = false;
    destroy_awaited(t);
  }
  frame.destroy();
}

struct final_awaiter {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task_promise P>
  void await_suspend(std::coroutine_handle<P> h) const noexcept {
    finish(h.promise());
  }
  void await_resume() const noexcept {}
};

struct nothing {};

/// The outcome of a task: a value, or the exception that left it.
template <class T>
class outcome_promise : public promise_base {
 public:
  using value_type = std::conditional_t<std::is_void_v<T>, nothing, T>;

  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept {
    outcome_.template emplace<std::exception_ptr>(std::current_exception());
  }
  /// The value, moved out; throws the exception.
  T take() {
    if (auto* const error = std::get_if<std::exception_ptr>(&outcome_)) {
      CAIRN_EXPECTS(*error, "the result of a task is taken once");
      std::rethrow_exception(std::exchange(*error, nullptr));
    }
    if constexpr (!std::is_void_v<T>) return std::move(std::get<value_type>(outcome_));
  }
  [[nodiscard]] std::exception_ptr error() const noexcept {
    const auto* const e = std::get_if<std::exception_ptr>(&outcome_);
    return e != nullptr ? *e : nullptr;
  }

 protected:
  std::variant<std::monostate, value_type, std::exception_ptr> outcome_;
};

template <class T>
class promise final : public outcome_promise<T> {
 public:
  [[nodiscard]] task<T> get_return_object() noexcept;
  template <class U>
  requires std::is_constructible_v<T, U&&>
  void return_value(U&& value) { this->outcome_.template emplace<T>(std::forward<U>(value)); }
};

template <>
class promise<void> final : public outcome_promise<void> {
 public:
  [[nodiscard]] task<void> get_return_object() noexcept;
  void return_void() noexcept { outcome_.emplace<nothing>(); }
};

template <class T>
struct task_awaiter {
  std::coroutine_handle<promise<T>> child;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task_promise P>
  bool await_suspend(std::coroutine_handle<P> parent) const {
    CAIRN_EXPECTS(child && child.promise().at == promise_base::phase::created,
                  "a task is awaited once");
    return start_nested(child.promise(), parent.promise());
  }
  T await_resume() const { return child.promise().take(); }
};

}  // namespace detail

/// A coroutine that computes a T. It yields its worker whenever it awaits a result that is not
/// available yet. A worker runs thousands of them at once.
///
///   task::task<std::uint64_t> twice(std::uint64_t x) { co_return 2 * x; }
///   ...
///   const auto y = co_await twice(x);
///
/// It starts when it is awaited, spawned (future.hpp) or run (world::run). Until then it may move
/// to another worker; afterwards it always resumes on the same one.
///
/// Parameters  by value: references must outlive the task
/// Locals      aligned to at most 16: g++ aligns no frame for more
/// Blocking    a task never calls a function that blocks (collectives, epochs, wait_until):
///             contract_violation
/// Throws      co_await throws the exception that left the task
/// Memory      a frame, from the worker's pool (frame_pool.hpp)
template <class T>
class [[nodiscard("a task starts when it is awaited")]] task {
  static_assert(!std::is_reference_v<T>, "return a value or a pointer");

 public:
  using promise_type = detail::promise<T>;
  using value_type = T;

  task() = default;
  task(task && other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    task(std::move(other)).swap(*this);
    return *this;
  }
  ~task() {
    if (frame_) detail::destroy(frame_);
  }

  void swap(task & other) noexcept { std::swap(frame_, other.frame_); }
  [[nodiscard]] explicit operator bool() const noexcept { return frame_ != nullptr; }

  /// Starts it and waits for its end. Awaited once.
  [[nodiscard]] auto operator co_await() const noexcept { return detail::task_awaiter<T>{frame_}; }

  /// Gives up the frame; for the functions that start tasks.
  [[nodiscard]] std::coroutine_handle<promise_type> release() noexcept {
    return std::exchange(frame_, nullptr);
  }
  [[nodiscard]] promise_type& promise() const noexcept { return frame_.promise(); }

 private:
  friend promise_type;
  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

template <class T>
task<T> detail::promise<T>::get_return_object() noexcept {
  const auto frame = std::coroutine_handle<promise>::from_promise(*this);
  this->self = frame;
  return task<T>(frame);
}
inline task<void> detail::promise<void>::get_return_object() noexcept {
  const auto frame = std::coroutine_handle<promise>::from_promise(*this);
  self = frame;
  return task<void>(frame);
}

}  // namespace cairn::task
