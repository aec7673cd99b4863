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

/// For workers that have a time of their own: what moves it.
struct fiber_times {
  /// Moves the clock by the work that this worker of the rank has done since the last call.
  std::function<void(std::size_t rank, worker_t worker)> charge;
  /// The moment of the rank's next arrival later than `after_ns`, if there is one.
  std::function<std::optional<std::uint64_t>(std::size_t rank, std::uint64_t after_ns)> next_due_ns;
};

struct fiber_options {
  /// Simulated time in which each runnable fiber gets one turn, on average.
  std::uint64_t round_ns = 100;
  /// Address space of a fiber's stack; memory is taken as it is touched.
  std::size_t stack_bytes = 1u << 20;
  /// When the next of what fibers wait for comes, if that is later than now. Empty: never.
  std::function<std::optional<std::uint64_t>()> next_due_ns;
  /// Told once that the cluster stalled, before anything is thrown: a chance to make the
  /// bodies leave by themselves. Empty: run() throws into them at once.
  std::function<void(const std::string& text)> on_stall;
  /// A discrete-event simulation instead of turns at random: see below.
  std::optional<fiber_times> times = {};
};

/// Runs the workers of many ranks on one thread, each as a fiber; the random numbers decide who
/// is next at every step, wait and end of a job, so the same seed gives the same run.
///
/// A turn costs some simulated time; when every fiber waits, the clock jumps to what is due
/// next. If nothing is due it jumps ahead in growing leaps, 1000 s in all, for those who wait
/// for a moment; if they all still wait then, the cluster has stalled.
///
/// With `times` each fiber has a time of its own, which its work and its waiting move, and the
/// one with the least goes on; the random numbers decide between equals. Who waits sleeps until
/// something comes for its rank or another of its workers has worked, and looks up by itself
/// after naps that grow to 0.1 ms. Pools are ranks, in the order of their making.
///
/// Order     bodies and jobs that may run at the same time are interleaved at random, now and
///           then with one running far ahead
/// Memory    a stack (two mappings) for each worker that is at work; idle workers have none
/// Thread-safety: none, and one thread only.
class fiber_scheduler {
 public:
  /// The random numbers and the clock outlive the scheduler; others may draw and look as well.
  fiber_scheduler(random64& random, hw::virtual_clock& clock, fiber_options options = {});
  ~fiber_scheduler();
  fiber_scheduler(const fiber_scheduler&) = delete;
  fiber_scheduler& operator=(const fiber_scheduler&) = delete;

  /// The workers of the next rank (they count from 0). The pool may not outlive the scheduler.
  [[nodiscard]] std::unique_ptr<pool> make_pool(int workers);

  /// Gives worker 0 of the pool its body, to begin in run().
  void start(pool& p, std::function<void()> body);

  /// Runs all bodies to their end; rethrows what the first that failed threw.
  ///
  /// Throws    system_failure "simulated cluster stalled ..." naming who waits, if no body and
  ///           no worker can go on and nothing is on its way
  void run();

  /// Something comes for that rank then: its workers that sleep look up. Only with `times`.
  void expect(std::size_t rank, std::uint64_t moment_ns);

  /// How often a fiber was chosen.
  [[nodiscard]] std::uint64_t turns() const noexcept;
  /// A hash of who was chosen and when: equal for equal runs.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept;

 private:
  friend class fiber_pool;
  friend struct strand;
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace cairn::task
