// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/task/scheduler.hpp>
#include <cairn/task/task.hpp>

namespace cairn::task {

namespace detail {

/// Starts tasks on any workers of the rank and resumes a parent when all have ended.
class join {
 public:
  /// Called first. Then add() is called for each task, and does not throw; suspends() returns
  /// whether the parent must suspend.
  void begin(promise_base& parent, std::size_t tasks) {
    auto& c = *parent.context;
    c.owner->reserve(c.worker, tasks);
    parent_ = &parent;
    left_.store(tasks + 1, std::memory_order_relaxed);
  }
  void add(promise_base& child) {
    child.on_finish = &ended;
    child.finish_data = this;
    auto& c = *parent_->context;
    c.owner->start(c.worker, child);
  }
  /// The same, on that worker.
  void add_on(worker_t on, promise_base& child) {
    child.on_finish = &ended;
    child.finish_data = this;
    auto& c = *parent_->context;
    c.owner->start(c.worker, child, {.worker = on});
  }
  [[nodiscard]] bool suspends() noexcept {
    return left_.fetch_sub(1, std::memory_order_acq_rel) != 1;
  }

 private:
  // The last one may let the parent destroy the child and this object.
  static void ended(promise_base& child) noexcept {
    auto& self = *static_cast<join*>(child.finish_data);
    auto& c = *child.context;
    if (self.left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    auto& parent = *self.parent_;
    if (parent.context == &c) {
      c.next = &parent;
    } else {
      c.owner->ready(c.worker, parent);
    }
  }

  promise_base* parent_ = nullptr;
  std::atomic<std::size_t> left_{0};
};

/// For each task before the first is started, which the others' refusal would destroy while it
/// runs.
template <class T>
void expect_not_started(task<T>& t) {
  CAIRN_EXPECTS(t && t.promise().at == promise_base::phase::created, "a task is started once");
}

template <class T>
class [[nodiscard("co_await it")]] all_of_vector {
 public:
  all_of_vector(std::vector<task<T>> tasks, bool spread)
      : tasks_(std::move(tasks)), spread_(spread) {}
  // Moved only before it is awaited.
  all_of_vector(all_of_vector && other) noexcept
      : tasks_(std::move(other.tasks_)), spread_(other.spread_) {}

  [[nodiscard]] bool await_ready() const noexcept { return tasks_.empty(); }
  template <task_promise P>
  bool await_suspend(std::coroutine_handle<P> parent) {
    for (auto& t : tasks_) expect_not_started(t);
    join_.begin(parent.promise(), tasks_.size());
    const auto workers = parent.promise().context->owner->workers().workers();
    for (int i = 0; auto& t : tasks_) {
      if (spread_) {
        join_.add_on(worker_t{i++ % workers}, t.promise());
      } else {
        join_.add(t.promise());
      }
    }
    return join_.suspends();
  }
  auto await_resume() {
    std::exception_ptr first;
    for (auto& t : tasks_) {
      if (!first) first = t.promise().error();
    }
    if (first) std::rethrow_exception(first);
    if constexpr (!std::is_void_v<T>) {
      std::vector<T> values;
      values.reserve(tasks_.size());
      for (auto& t : tasks_) values.push_back(t.promise().take());
      return values;
    }
  }

 private:
  std::vector<task<T>> tasks_;
  bool spread_;
  join join_;
};

template <class... T>
class [[nodiscard("co_await it")]] all_of {
 public:
  explicit all_of(task<T>... tasks) : tasks_(std::move(tasks)...) {}
  all_of(all_of && other) noexcept : tasks_(std::move(other.tasks_)) {}

  [[nodiscard]] bool await_ready() const noexcept { return sizeof...(T) == 0; }
  template <task_promise P>
  bool await_suspend(std::coroutine_handle<P> parent) {
    std::apply([](auto&... t) { (expect_not_started(t), ...); }, tasks_);
    join_.begin(parent.promise(), sizeof...(T));
    std::apply([this](auto&... t) { (join_.add(t.promise()), ...); }, tasks_);
    return join_.suspends();
  }
  auto await_resume() {
    std::exception_ptr first;
    const auto look = [&](const std::exception_ptr& e) {
      if (!first) first = e;
    };
    std::apply([&](auto&... t) { (look(t.promise().error()), ...); }, tasks_);
    if (first) std::rethrow_exception(first);
    return std::apply([](auto&... t) { return std::tuple(value_of(t)...); }, tasks_);
  }

 private:
  template <class U>
  static auto value_of(task<U> & t) {
    if constexpr (std::is_void_v<U>) {
      return nothing{};
    } else {
      return t.promise().take();
    }
  }

  std::tuple<task<T>...> tasks_;
  join join_;
};

}  // namespace detail

/// co_await when_all(tasks): runs the tasks, which may start on any worker of the rank, and waits
/// until all have ended.
///
/// Returns   std::vector<T>, or nothing for T = void, in the order of the tasks
/// Throws    the exception of the first in that order, after all have ended
template <class T>
[[nodiscard]] auto when_all(std::vector<task<T>> tasks) {
  return detail::all_of_vector<T>(std::move(tasks), false);
}

/// The same; the i-th task is first given to the i-th worker, in turn.
template <class T>
[[nodiscard]] auto when_all_spread(std::vector<task<T>> tasks) {
  return detail::all_of_vector<T>(std::move(tasks), true);
}

/// The same for tasks of different types. Returns a tuple; a task<void> has an empty struct in it.
template <class... T>
[[nodiscard]] auto when_all(task<T>... tasks) {
  return detail::all_of<T...>(std::move(tasks)...);
}

}  // namespace cairn::task
