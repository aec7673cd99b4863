// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>

#include <cairn/task/worker_context.hpp>

namespace cairn::task {

namespace detail {

/// Measures whether the data is in the cache, and decides when to measure again.
void probe(worker_context& c, const void* address) noexcept;

}  // namespace detail

/// co_await prefetch(address): begins to load the cache line and lets other tasks run meanwhile.
///
/// At most scheduler_options::in_flight tasks of a worker wait for cache lines at once, because a
/// core loads only so many lines at a time and the lines of the others would be evicted before
/// their use. By default a worker finds the number (in_flight_tuner.hpp). One access in 128 is
/// timed; if most of the timed accesses found their data in the cache, the task continues without a
/// switch.
///
/// address   readable memory
/// In a simulated cluster nothing is timed, and each call is a switch.
class [[nodiscard("co_await it")]] prefetch {
 public:
  explicit prefetch(const void* address) noexcept : address_(address) {}

  // Finds the context without the promise, so that a task that continues saves nothing in its
  // frame.
  [[nodiscard, gnu::always_inline]] bool await_ready() const noexcept {
    auto& c = *current_context;
    return --c.prefetches_until_probe != 0 && c.cached;
  }
  template <task_promise P>
  [[gnu::always_inline]] void await_suspend(std::coroutine_handle<P> h) const {
    auto& c = *h.promise().context;
    if (c.prefetches_until_probe == 0) [[unlikely]]
      detail::probe(c, address_);
    __builtin_prefetch(address_);
    c.wait_for_line(h.promise());
  }
  void await_resume() const noexcept {}

 private:
  const void* address_;
};

}  // namespace cairn::task
