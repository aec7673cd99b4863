// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>

#include <cairn/task/worker_context.hpp>

namespace cairn::task {

namespace detail {

/// Measures whether the data is in the cache, if that is due.
void probe_if_due(worker_context& c, const void* address) noexcept;

}  // namespace detail

/// co_await prefetch(address): begins to load the cache line and lets other tasks run meanwhile.
///
/// At most scheduler_options::in_flight tasks of a worker wait for cache lines at once, because a
/// core loads only so many lines at a time and the lines of the others would be evicted before
/// their use. By default a worker finds the number (in_flight_tuner.hpp). One access in 128 is
/// timed, or in 1,024 while nearly all are slow; if most of the timed accesses found their data in
/// the cache, the task continues without a switch.
///
/// address   readable memory, or prefetch::hint(address): any address, which is never read or timed
/// In a simulated cluster nothing is timed, and each call is a switch.
class [[nodiscard("co_await it")]] prefetch {
 public:
  explicit prefetch(const void* address) noexcept : address_(address) {}
  [[nodiscard]] static prefetch hint(const void* address) noexcept {
    prefetch p(address);
    p.readable_ = false;
    return p;
  }

  // Finds the context without the promise, so that a task that continues saves nothing in its
  // frame.
  [[nodiscard, gnu::always_inline]] bool await_ready() const noexcept {
    auto& c = *current_context;
    return c.cached && --c.until_probe > 0;
  }
  template <task_promise P>
  [[nodiscard, gnu::always_inline]] std::coroutine_handle<> await_suspend(
      std::coroutine_handle<P> h) const {
    auto& c = *h.promise().context;
    if (!c.cached && c.may_chain()) [[likely]] {
      __builtin_prefetch(address_);
      return c.next_of_chain(h.promise());
    }
    if (readable_) detail::probe_if_due(c, address_);
    __builtin_prefetch(address_);
    c.active.push_back(&h.promise());
    return std::noop_coroutine();
  }
  void await_resume() const noexcept {}

 private:
  const void* address_;
  bool readable_ = true;
};

}  // namespace cairn::task
