// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <cstdint>

#include <cairn/task/worker_context.hpp>

namespace cairn::task {

namespace detail {

/// Measures whether the data is in the cache, if that is due. While it is, this also lets messages
/// be handled.
///
/// address   nullptr: nothing that may be read
void probe_if_due(worker_context& c, const void* address) noexcept;

}  // namespace detail

/// Where data probably is, which depends on how much of it there is. For data in the core's own
/// cache no task switches. For data in a cache that cores share a task switches only if none has
/// lately for data that is further away: between two switches the processor finds enough to do.
/// Data in memory is fetched into the second cache of the core, which waits for more lines at once
/// than the first.
enum class likely_in : std::uint8_t { own_cache, shared_cache, partly_cached, memory };

/// co_await prefetch(address): begins to load the cache line and lets other tasks run meanwhile.
///
/// At most scheduler_options::in_flight tasks of a worker wait for cache lines at once, because a
/// core loads only so many lines at a time and the lines of the others would be evicted before
/// their use. By default a worker finds the number (in_flight_tuner.hpp). One access in 128 is
/// timed, or in 1,024 while nearly all or nearly none are slow; if most of the timed accesses found
/// their data in the cache, the task continues without a switch.
///
/// address   readable memory, or prefetch::hint(address): any address, which is never read or timed
/// likely    where the data probably is. A call that needs no switch by this alone is not counted
///           among those that are timed
/// In a simulated cluster nothing is timed: `likely` alone decides.
class [[nodiscard("co_await it")]] prefetch {
 public:
  explicit prefetch(const void* address, likely_in likely = likely_in::partly_cached) noexcept
      : address_(address), likely_(likely) {}
  [[nodiscard]] static prefetch hint(const void* address) noexcept {
    prefetch p(address);
    p.readable_ = false;
    return p;
  }

  // Finds the context without the promise, so that a task that continues saves nothing in its
  // frame.
  [[nodiscard, gnu::always_inline]] bool await_ready() const noexcept {
    if (likely_ == likely_in::own_cache) return true;
    auto& c = *current_context;
    if (likely_ == likely_in::shared_cache && c.shared_without_switch > 0) {
      --c.shared_without_switch;
      return true;
    }
    return c.cached && --c.until_probe > 0;
  }
  template <task_promise P>
  [[nodiscard, gnu::always_inline]] std::coroutine_handle<> await_suspend(
      std::coroutine_handle<P> h) const {
    auto& c = *h.promise().context;
    if (likely_ > likely_in::shared_cache)
      c.shared_without_switch = worker_context::max_shared_without_switch;
    if (!c.cached && c.may_chain()) [[likely]] {
      begin();
      return c.next_of_chain(h.promise());
    }
    detail::probe_if_due(c, readable_ ? address_ : nullptr);
    begin();
    c.active.push_back(&h.promise());
    return std::noop_coroutine();
  }
  void await_resume() const noexcept {}

 private:
  [[gnu::always_inline]] void begin() const noexcept {
    if (likely_ == likely_in::memory) {
      __builtin_prefetch(address_, 0, 2);
    } else {
      __builtin_prefetch(address_);
    }
  }

  const void* address_;
  likely_in likely_;
  bool readable_ = true;
};

}  // namespace cairn::task
