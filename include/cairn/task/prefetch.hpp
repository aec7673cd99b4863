// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>

#include <cairn/task/worker_context.hpp>

namespace cairn::task {

namespace detail {

/// Measures whether the datum is in the cache; sets when to measure again.
void probe(worker_context& c, const void* address) noexcept;

}  // namespace detail

/// co_await prefetch(address): begins to load the cache line and lets other tasks run meanwhile.
///
/// At most scheduler_options::in_flight tasks of a worker wait for cache lines at once, because a
/// core loads only so many lines at a time and the lines of the others would be evicted before
/// their use. One access in 128 is timed; if most of those found their data in the cache, the task
/// goes on without a switch. A task without others to run goes on, too.
///
/// address   readable memory
/// In a simulated cluster nothing is timed, and each call is a switch.
class [[nodiscard("co_await it")]] prefetch {
 public:
  explicit prefetch(const void* address) noexcept : address_(address) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <task_promise P>
  bool await_suspend(std::coroutine_handle<P> h) const {
    auto& c = *h.promise().context;
    const bool probes = --c.prefetches_until_probe == 0;
    if (probes) [[unlikely]] {
      detail::probe(c, address_);
    } else if (c.cached) {
      return false;
    }
    __builtin_prefetch(address_);
    c.active.push_back(&h.promise());
    return true;
  }
  void await_resume() const noexcept {}

 private:
  const void* address_;
};

}  // namespace cairn::task
