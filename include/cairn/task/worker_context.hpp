// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>

#include <cairn/base/types.hpp>
#include <cairn/task/frame_pool.hpp>
#include <cairn/task/in_flight_tuner.hpp>
#include <cairn/task/promise.hpp>
#include <cairn/task/ring_queue.hpp>

namespace cairn::task {

/// The state of one worker that runs tasks. Only its owner uses it, except for `mail` and
/// `asked_by`.
struct alignas(cache_line) worker_context {
  worker_context() = default;
  worker_context(const worker_context&) = delete;
  worker_context& operator=(const worker_context&) = delete;

  scheduler* owner = nullptr;
  worker_t worker = main_worker;
  bool running = false;  // a task runs on this worker
  unsigned depth = 0;    // tasks that were started by tasks that await them, on the stack
  /// The task that the loop resumes next, before it takes one from a queue: a finished task stores
  /// its waiter here. This replaces symmetric transfer, which needs the stack in unoptimised code.
  promise_base* next = nullptr;

  ring_queue<promise_base> ready;           // suspended tasks that can continue
  ring_queue<promise_base> active;          // those that wait for a cache line, at most `in_flight`
  ring_queue<promise_base> created;         // tasks that have not started
  std::atomic<std::size_t> num_created{0};  // one writer
  std::size_t in_flight = 32;
  in_flight_tuner tuner;
  bool tunes = false;
  std::size_t budget = 0;  // resumptions until messages are handled
  std::uint64_t resumed = 0;
  std::uint64_t next_start = 0;  // as soon as so many were resumed, a new task starts
  // How often tasks that wait for cache lines resumed each other since the loop ran, and how often
  // they may.
  std::uint32_t chained = 0, chain_limit = 0;
  // prefetch.hpp: whether the data of most prefetches was in the cache, by probes.
  std::int32_t until_probe = 1;  // prefetches
  std::uint32_t slowness = 1024;
  bool probes = false, cached = false;
  // How many more prefetches of data in a shared cache continue without a switch; set at each
  // switch for data that is further away.
  std::int32_t shared_without_switch = 0;
  static constexpr std::int32_t max_shared_without_switch = 64;

  [[nodiscard]] bool may_chain() const noexcept { return chained < chain_limit; }
  /// For a task that waits for a cache line, if may_chain(): the task to resume now.
  [[nodiscard, gnu::always_inline]] std::coroutine_handle<> next_of_chain(
      promise_base& t) noexcept {
    ++chained;
    return active.exchange_front(&t)->self;
  }
  /// The resumption in progress is the last before messages are handled.
  void end_batch() noexcept { budget = 1 + chained; }

  frame_pool frames;

  // From other workers: tasks to resume or to start here, last in first out.
  alignas(cache_line) std::atomic<promise_base*> mail{nullptr};
  /// The worker that asks for tasks that have not started, plus 1; 0: none.
  alignas(cache_line) std::atomic<std::int32_t> asked_by{0};
};

/// The context of the running task, or of the worker that creates tasks in a handler; else null.
///
/// Workers of simulated ranks are fibers of one thread. Each switch of fibers saves and restores
/// this pointer (fiber.cpp).
inline constinit thread_local worker_context* current_context = nullptr;

/// Sets the current context during its lifetime.
class context_scope {
 public:
  explicit context_scope(worker_context* c) noexcept : before_(current_context) {
    current_context = c;
  }
  ~context_scope() { current_context = before_; }
  context_scope(const context_scope&) = delete;
  context_scope& operator=(const context_scope&) = delete;

 private:
  worker_context* before_;
};

}  // namespace cairn::task
