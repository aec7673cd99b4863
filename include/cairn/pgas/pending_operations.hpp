// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <utility>

#include <cairn/pgas/completion.hpp>
#include <cairn/pgas/global_memory.hpp>
#include <cairn/task/promise.hpp>

namespace cairn::pgas {

/// The non-blocking operations of one task.
///
///   auto ops = co_await memory.operations();
///   for (auto i : indices) a.get(i, &copies[k++], ops);
///   co_await ops.wait();                               // now all copies are there
///
/// No order is promised between operations that are pending at the same time.
///
/// If the object ends while operations are pending, puts still take effect, and gets write nothing.
/// Used by the task that constructed it.
class pending_operations {
  struct waiting {
    group_completion& group;
    [[nodiscard]] bool await_ready() const noexcept { return group.outstanding == 0; }
    template <task::task_promise P>
    void await_suspend(std::coroutine_handle<P> h) const noexcept {
      group.wait_as(task::suspended(h.promise()));
    }
    void await_resume() const { expect_no_fault(std::exchange(group.fault, access_fault::none)); }
  };

 public:
  pending_operations(array_traffic& traffic, worker_t k)
      : group_(&traffic.new_group(k)), worker_(k) {}
  ~pending_operations() {
    if (group_ != nullptr) group_->abandon();
  }
  pending_operations(pending_operations&& other) noexcept
      : group_(std::exchange(other.group_, nullptr)), worker_(other.worker_) {}
  pending_operations& operator=(pending_operations&& other) noexcept {
    std::swap(group_, other.group_);
    std::swap(worker_, other.worker_);
    return *this;
  }

  /// co_await wait() returns when none is pending.
  /// Throws    contract_violation if an array of one of them did not exist
  [[nodiscard("await it")]] auto wait() noexcept { return waiting{*group_}; }

  /// Number of messages that are not answered.
  [[nodiscard]] std::uint32_t pending() const noexcept { return group_->outstanding; }
  [[nodiscard]] completion& group() const noexcept { return *group_; }
  [[nodiscard]] worker_t worker() const noexcept { return worker_; }

 private:
  group_completion* group_;
  worker_t worker_;
};

/// The awaiter that operations() returns.
class global_memory::group_operation {
 public:
  explicit group_operation(array_traffic& traffic) noexcept : traffic_(traffic) {}
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task::task_promise P>
  bool await_suspend(std::coroutine_handle<P> h) noexcept {
    worker_ = task::suspended(h.promise()).worker();
    return false;
  }
  [[nodiscard]] pending_operations await_resume() const { return {traffic_, worker_}; }

 private:
  array_traffic& traffic_;
  worker_t worker_ = main_worker;
};

inline global_memory::group_operation global_memory::operations() noexcept {
  return group_operation(traffic_);
}

}  // namespace cairn::pgas
