// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>
#include <cairn/task/pool.hpp>
#include <cairn/task/promise.hpp>
#include <cairn/task/task.hpp>
#include <cairn/task/worker_context.hpp>

namespace cairn::task {

template <class T>
class future;

namespace detail {
template <class T>
inline constexpr bool is_future = false;
template <class T>
inline constexpr bool is_future<future<T>> = true;
}  // namespace detail

/// The functions of a world that a scheduler calls. The defaults suit a pool without a world.
class scheduler_host {
 public:
  /// Whether tasks must stop: no more are resumed.
  [[nodiscard]] virtual bool interrupted() const noexcept { return false; }
  /// Called by worker k between two batches while it has ready tasks: messages are handled.
  virtual void between_batches(worker_t /*k*/) noexcept {}
  /// Worker k has resumed some tasks.
  virtual void resumed_tasks(worker_t /*k*/) noexcept {}
  /// Worker k has measured how many of its tasks may wait for cache lines at once.
  virtual void chose_in_flight(worker_t /*k*/, std::size_t /*tasks*/) noexcept {}
  /// Throws the reason for interrupted(). Worker 0.
  virtual void throw_if_interrupted() {}
  /// An exception left a task that nothing awaits.
  virtual void failed(std::exception_ptr /*error*/) noexcept {}
  /// Called before tasks are destroyed, while no other worker runs tasks or handlers. Messages sent
  /// for these tasks, and answers to them, must not reach later tasks.
  virtual void before_destroying_tasks() noexcept {}

 protected:
  ~scheduler_host() = default;
};

struct scheduler_options {
  int threads = 0;  ///< that may call ready(); 0: the pool's workers
  /// Tasks per worker that wait for a cache line at once, at most; 0: each worker chooses from
  /// measured cost, and in a simulated cluster it is 32.
  std::size_t in_flight = 0;
  scheduler_host* host = nullptr;
};

/// Runs the tasks of one rank: the pool's workers resume them whenever they poll (pool.hpp), also
/// while the body waits.
///
/// Each worker has its own queue. It resumes ready tasks in batches, first in, first out. It starts
/// a new task, the newest first, if no task is ready, and also after about every 64th resumption;
/// while all started tasks wait for cache lines (prefetch.hpp), after every 16,384th. A worker
/// without tasks requests some from other workers, which give half of their tasks that have not
/// started, the oldest first. A task that a thread beside the workers starts goes to the workers
/// that poll first. A started task always resumes on its worker. There are no priorities and no
/// preemption.
///
/// In a simulated cluster the seed chooses which ready task is next, and each resumption is a
/// switch point.
///
/// Thread-safety  ready() and start() by any worker, with its own number. Unless stated otherwise
///                the others are called by worker 0 outside jobs
class scheduler final : public progress_source {
 public:
  explicit scheduler(pool& p, const scheduler_options& opt = {});
  /// Destroys all tasks.
  ~scheduler();
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// Runs a task to its end on worker 0 and returns its value; works meanwhile. If the host is
  /// interrupted, destroys all tasks.
  /// Throws    what left the task; what the host throws
  template <class T>
  T run(task<T> root) {
    static_assert(!detail::is_future<T>, "a future does not outlive the run: await it in the root");
    CAIRN_EXPECTS(root, "a task that was moved from cannot run");
    if (!run_to_end(root.promise(), [&] { root = {}; })) host_.throw_if_interrupted();
    return root.promise().take();
  }

  /// Lets a suspended task continue: it resumes later, on its own worker. `here` is the calling
  /// worker, or the progress thread. Called once per suspension.
  void ready(worker_t here, suspended t) { ready(here, t.promise()); }
  void ready(worker_t here, promise_base& t);
  /// ready() for a task that was suspended on worker `here`. Does not read its frame, which may not
  /// be in the cache.
  void ready_here(worker_t here, suspended t) {
    CAIRN_ASSERT(t.worker() == here);
    context(here).ready.push_back(&t.promise());
  }

  struct first_taker {
    worker_t worker;
  };
  /// Lets a new task start on any worker; with `to`, that worker is the first to receive it.
  void start(worker_t here, promise_base& t);
  void start(worker_t here, promise_base& t, first_taker to);

  /// The next n calls of start() with `here` do not throw.
  void reserve(worker_t here, std::size_t n) { context(here).created.reserve(n); }

  /// Starts the task that make() returns. Nothing awaits the task, so its exception fails the
  /// world. For handlers, on worker `here`.
  template <class Make>
  void start_detached(worker_t here, Make&& make) {
    const context_scope scope(&context(here));
    start_as_root(here, std::forward<Make>(make)());
  }

  /// Destroys all tasks that no other frame owns, and with them those that they own. The frames of
  /// suspended tasks become invalid: generation() grows.
  /// others    called between emptying the queues and the end: destroys tasks that the caller owns
  void destroy_all(const std::function<void()>& others = {}) noexcept;
  /// How often destroy_all() was called. Any thread.
  [[nodiscard]] std::uint32_t generation() const noexcept {
    return generation_.load(std::memory_order_acquire);
  }
  /// Whether tasks are being destroyed by this thread's caller.
  [[nodiscard]] bool destroying() const noexcept { return destroying_; }

  [[nodiscard]] pool& workers() noexcept { return pool_; }
  [[nodiscard]] scheduler_host& host() noexcept { return host_; }
  [[nodiscard]] int threads() const noexcept { return static_cast<int>(contexts_.size()); }
  [[nodiscard]] worker_context& context(worker_t k) noexcept {
    return *contexts_[static_cast<std::size_t>(k)];
  }

  /// Number of existing frames of tasks. Called while no task runs.
  [[nodiscard]] std::uint64_t num_live() const noexcept;
  /// Memory of frames, in bytes.
  [[nodiscard]] std::size_t frame_bytes() const noexcept;
  /// How often a task was resumed or started.
  [[nodiscard]] std::uint64_t num_resumed() const noexcept;

  bool poll(worker_t k) noexcept override;

 private:
  void start_as_root(worker_t here, task<void> t);
  bool run_to_end(promise_base& root, const std::function<void()>& destroy);
  void run_batch(worker_context& c);
  void run_measured_batch(worker_context& c);
  void resume(worker_context& c, promise_base& t);
  [[nodiscard]] std::uint32_t chain_limit(const worker_context& c) const noexcept;
  [[nodiscard]] promise_base* next_of(worker_context& c);
  [[nodiscard]] promise_base* start_one(worker_context& c);
  [[nodiscard]] promise_base* take(ring_queue<promise_base>& from);
  [[nodiscard]] promise_base* take_ready(worker_context& c);
  struct taken_list {
    promise_base* first = nullptr;
    std::size_t size = 0;
  };
  [[nodiscard]] static taken_list take_list(std::atomic<promise_base*>& list) noexcept;
  void post(std::atomic<promise_base*>& list, promise_base& t) noexcept;
  bool take_mail(worker_context& c);
  void take_arrivals(worker_context& c);
  void ask(worker_context& c) noexcept;
  void give(worker_context& c) noexcept;
  void forget_queues() noexcept;

  pool& pool_;
  scheduler_host& host_;
  const bool drawn_;  // the pool draws the next task
  std::vector<std::unique_ptr<worker_context>> contexts_;
  std::atomic<std::uint32_t> generation_{0};
  // Tasks that threads beside the workers have started, last in first out.
  alignas(cache_line) std::atomic<promise_base*> arrivals_{nullptr};
  bool destroying_ = false;
};

inline worker_t suspended::worker() const noexcept { return promise_->context->worker; }
inline scheduler& suspended::of() const noexcept { return *promise_->context->owner; }
inline void suspended::resume_later(worker_t here) const { of().ready(here, *promise_); }

}  // namespace cairn::task
