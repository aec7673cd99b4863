// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <cairn/base/types.hpp>

namespace cairn::task {

/// The workers of one rank, and the only place where they wait.
///
/// Worker 0 is the thread (or fiber) that runs the body; the others run jobs that it gives
/// out with run() and, while the pool is `attentive`, call the idle hook between jobs. The
/// hook (set by core) takes in messages and runs handlers; it says whether it found work.
///
/// Two kinds: threads (make_threads) and fibers of a simulated cluster (see fibers.hpp).
class pool {
 public:
  /// Called as hook(worker) when that worker has nothing else to do; true: it did something.
  /// Replaced only when no worker is inside: before the pool is attentive, or after it has
  /// stopped to be and run() was called once.
  using idle_hook = std::function<bool(worker_t)>;
  using job = std::function<void(worker_t)>;

  virtual ~pool() = default;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  [[nodiscard]] int workers() const noexcept { return workers_; }

  /// The worker of this pool that calls. Worker 0 for a thread that this pool did not start, also
  /// if it is a worker of another pool: it may make a pool of its own inside a job.
  [[nodiscard]] virtual worker_t here() const noexcept = 0;

  /// Runs f(w) once on every worker w and returns when all have ended; rethrows the first
  /// exception. Called by worker 0 only, never from inside a job.
  virtual void run(const job& f) = 0;

  /// Lets others run: a pause, then a yield, then a short sleep as `idle_rounds` grows, so
  /// that many idle workers on few cores do not starve the busy one.
  virtual void relax(unsigned idle_rounds) noexcept = 0;

  /// A place where a simulated cluster may switch to another worker. Nothing for threads.
  virtual void step() noexcept {}

  /// Throws system_failure in a simulated cluster that has stalled and could not be left in a
  /// better way; nothing for threads. Called by whoever waits, between two looks.
  virtual void throw_if_stalled() {}

  /// While attentive, workers without a job call the idle hook; otherwise they sleep.
  virtual void set_attentive(bool on) = 0;

  void set_idle_hook(idle_hook hook) { idle_hook_ = std::move(hook); }

  /// Returns once done() holds; works (idle hook) and yields meanwhile. All waiting in Cairn
  /// goes through here. Called by worker 0.
  template <class Done>
  void wait_until(Done&& done) {
    for (unsigned idle_rounds = 0; !done();) {
      if (idle(here())) {
        idle_rounds = 0;
        step();
      } else {
        relax(idle_rounds++);
        throw_if_stalled();
      }
    }
  }

 protected:
  explicit pool(int workers) : workers_(workers) {}
  bool idle(worker_t w) { return idle_hook_ && idle_hook_(w); }

 private:
  int workers_;
  idle_hook idle_hook_;
};

struct thread_options {
  int workers = 1;
  bool pin = false;  ///< worker w on the w-th allowed core, from `first_core` on
  int first_core = 0;
};

/// A pool of `workers` - 1 threads and the caller's own, which becomes worker 0 (and, with
/// `pin`, stays on its core until the pool ends; so it also ends the pool).
///
/// Throws    system_failure if the threads cannot be started
[[nodiscard]] std::unique_ptr<pool> make_threads(const thread_options& options);

}  // namespace cairn::task
