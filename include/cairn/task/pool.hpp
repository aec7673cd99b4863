// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <cairn/base/types.hpp>

namespace cairn::task {

/// Work that a worker does while it has no job: it takes messages in, or goes on with what was
/// parked.
class progress_source {
 public:
  /// Does a bounded piece of work on worker w; returns whether there was any. Several workers call
  /// it at once. An error has no caller to go to: the source keeps it or fails its world.
  virtual bool progress(worker_t w) noexcept = 0;
  /// The part of it that a worker does between two chunks too: it takes in what others have left
  /// for it.
  virtual bool take_in(worker_t /*w*/) noexcept { return false; }
  /// Called by worker w between two chunks of a loop; false asks the loop to end. Several workers
  /// call it at once.
  [[nodiscard]] virtual bool may_go_on(worker_t /*w*/) noexcept { return true; }
  /// Throws if loops are to end. Called by worker 0 outside jobs.
  virtual void throw_if_interrupted() {}

 protected:
  ~progress_source() = default;
};

/// The workers of one rank, and the only place where they wait.
///
/// Worker 0 is the thread (or fiber) that runs the body; the others run jobs that it gives
/// out with run(). A worker that waits, and while the pool is attentive also a worker without a
/// job, asks the progress sources in turn until one has done something.
///
/// Two kinds: threads (make_threads) and fibers of a simulated cluster (see fibers.hpp).
class pool {
 public:
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

  /// The same for a job whose work any worker may do: one that has not begun when worker 0 has
  /// ended is left out. For loops, which a sleeping worker would delay.
  virtual void share(const job& f) { run(f); }

  /// Lets others run: a pause, then a yield, then a short sleep as `idle_rounds` grows, so
  /// that many idle workers on few cores do not starve the busy one.
  virtual void relax(unsigned idle_rounds) noexcept = 0;

  /// Lets another thread use the core of a worker that has work, once. Nothing for fibers, which
  /// take turns at every step.
  virtual void give_way() noexcept {}

  /// A place where a simulated cluster may switch to another worker. Nothing for threads.
  virtual void step() noexcept {}

  /// Throws system_failure in a simulated cluster that has stalled and could not be left in a
  /// better way; nothing for threads. Every wait calls it between two looks.
  virtual void throw_if_stalled() {}

  /// Registers a source, or takes one out. Called by worker 0 outside jobs; a source may not be
  /// taken out while worker 0 is inside one.
  void add_source(progress_source& s) {
    while_quiet([&] { sources_.push_back(&s); });
  }
  void remove_source(progress_source& s) {
    while_quiet([&] { std::erase(sources_, &s); });
  }

  /// Between attend() and ignore() the pool is attentive. Pairs of calls nest. No worker but 0 is
  /// inside a source once the last ignore() has returned. Called by worker 0 outside jobs.
  void attend() {
    if (attention_++ == 0) set_attentive(true);
  }
  void ignore() {
    if (--attention_ == 0) quieten();
  }

  /// Calls f while no worker but 0 is inside a source. Called by worker 0 outside jobs.
  /// Cost      of an empty job, if the pool is attentive
  template <class F>
  void while_quiet(F&& f) {
    if (attention_ == 0) return f();
    quieten();
    f();
    set_attentive(true);
  }

  /// Returns once done() holds; asks the sources and yields meanwhile. All waiting in Cairn
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

  /// The same, but asks done() only when no source has work, or when urgent() holds: for one that
  /// costs something, or that begins a termination wave.
  template <class Done, class Urgent>
  void work_until(Done&& done, Urgent&& urgent) {
    for (unsigned idle_rounds = 0;;) {
      if (idle(here()) && !urgent()) {
        idle_rounds = 0;
        step();
      } else {
        if (done()) return;
        relax(idle_rounds++);
        throw_if_stalled();
      }
    }
  }

  /// Whether a loop of worker w may go on, at the end of a chunk; takes a step.
  [[nodiscard]] bool may_go_on(worker_t w) noexcept {
    step();
    return std::ranges::all_of(sources_, [w](auto* s) { return s->may_go_on(w); });
  }
  /// Throws what ends loops here: `cancelled`, peer_failure. For serial loops, after each piece of
  /// at most some milliseconds; parallel_for calls it. Called by worker 0 outside jobs.
  void throw_if_interrupted() {
    if (may_go_on(0)) return;
    for (auto* const s : sources_) s->throw_if_interrupted();
  }

  /// Worker w takes in what other workers have left for it; returns whether there was anything.
  bool take_in(worker_t w) noexcept {
    bool any = false;
    for (auto* const s : sources_) any |= s->take_in(w);
    return any;
  }
  /// Asks the sources in turn; returns whether one of them has done something.
  bool idle(worker_t w) noexcept {
    return std::ranges::any_of(sources_, [w](auto* s) { return s->progress(w); });
  }

 protected:
  explicit pool(int workers) : workers_(workers) {}

 private:
  virtual void set_attentive(bool on) = 0;
  void quieten() noexcept {
    set_attentive(false);
    try {
      if (workers_ > 1) run([](worker_t) {});
    } catch (...) {  // a simulated cluster that has stalled: the next wait says so
    }
  }

  int workers_;
  int attention_ = 0;
  std::vector<progress_source*> sources_;
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
