// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <cairn/base/random.hpp>
#include <cairn/hw/virtual_clock.hpp>
#include <cairn/task/pool.hpp>

namespace cairn::task {

/// For workers with their own simulated time: the functions that advance it.
struct fiber_times {
  /// Advances the clock by the work that this worker of the rank has done since the last call.
  std::function<void(std::size_t rank, worker_t worker)> charge;
  /// The time of the rank's next arrival after `after_ns`, if there is one.
  std::function<std::optional<std::uint64_t>(std::size_t rank, std::uint64_t after_ns)> next_due_ns;
  /// The longest interval after which a waiting fiber wakes by itself.
  std::uint64_t max_nap_ns = 102'400;
};

struct fiber_options {
  /// Simulated time in which each runnable fiber gets one turn on average.
  std::uint64_t round_ns = 100;
  /// Address space of a fiber's stack; memory is allocated when it is touched.
  std::size_t stack_bytes = 1u << 20;
  /// The time of the next event that fibers wait for, if it is in the future. Empty: never.
  std::function<std::optional<std::uint64_t>()> next_due_ns;
  /// Called once when the cluster has stalled, before any exception is thrown, so that bodies can
  /// end by themselves. Empty: run() throws into the bodies at once.
  std::function<void(const std::string& text)> on_stall;
  /// Selects a discrete-event simulation instead of random turns; see fiber_scheduler.
  std::optional<fiber_times> times = {};
};

/// Runs the workers of many ranks on one thread, each as a fiber. Random numbers choose the next
/// fiber at every switch point, wait and end of a job, so the same seed gives the same run.
///
/// A turn takes simulated time. When every fiber waits, the clock advances to the next event. If
/// there is none, it advances in growing leaps, 1000 s in all, for fibers that wait for a time. If
/// all fibers still wait then, the cluster has stalled.
///
/// With `times` each fiber has its own time, which its work and its waits advance. The fiber with
/// the least time runs next; random numbers break ties. A waiting fiber sleeps until something
/// arrives for its rank or another worker of the rank has worked. It also wakes by itself after
/// intervals that grow to `max_nap_ns`. Pools are ranks, in the order of construction.
///
/// Order     bodies and jobs that may run concurrently are interleaved at random; now and then one
///           runs far ahead
/// Memory    a stack (two mappings) for each active worker; idle workers have none until their pool
///           polls
/// Thread-safety: none, and one thread only.
class fiber_scheduler {
 public:
  /// The random numbers and the clock outlive the scheduler; others may use them too.
  fiber_scheduler(random64& random, hw::virtual_clock& clock, fiber_options options = {});
  ~fiber_scheduler();
  fiber_scheduler(const fiber_scheduler&) = delete;
  fiber_scheduler& operator=(const fiber_scheduler&) = delete;

  /// The pool of the next rank, counted from 0. The pool must not outlive the scheduler.
  [[nodiscard]] std::unique_ptr<pool> make_pool(int workers);

  /// Sets the body of worker 0 of the pool; it starts in run().
  void start(pool& p, std::function<void()> body);

  /// Runs all bodies to their end; rethrows the exception of the first that failed.
  ///
  /// Throws    system_failure "simulated cluster stalled ..." naming the waiting workers, if no
  ///           body and no worker can continue and nothing is in flight
  void run();

  /// Announces an event for the rank at that time; its sleeping workers wake then. Only with
  /// `times`.
  void expect(std::size_t rank, std::uint64_t time_ns);

  /// The number of times a fiber was chosen.
  [[nodiscard]] std::uint64_t turns() const noexcept;
  /// A hash of the fibers chosen and the times; equal for equal runs.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept;

 private:
  friend class fiber_pool;
  friend struct fiber_record;
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace cairn::task
