// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/obs/trace.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/promise.hpp>

namespace cairn::task {

/// The result of one poll by a server. It decides when the server polls again: at once, soon,
/// or after about a millisecond.
enum class poll_result { worked, nothing, rest };

/// Work for a worker without a job: it handles messages or retries parked work.
class progress_source {
 public:
  /// Does a bounded piece of work on worker k; returns whether there was any. Several workers may
  /// call it concurrently. An error has no caller to reach: the source keeps it or fails its world.
  virtual bool poll(worker_t k) noexcept = 0;
  /// The part of poll() that a worker also runs between two chunks: it takes over items that
  /// other workers left for it.
  virtual bool take_in(worker_t /*k*/) noexcept { return false; }
  /// Called by worker k between two chunks of a loop; false ends the loop. Several workers may call
  /// it concurrently.
  [[nodiscard]] virtual bool may_continue(worker_t /*k*/) noexcept { return true; }
  /// Throws if loops must end. Called by worker 0 outside jobs.
  virtual void throw_if_interrupted() {}

 protected:
  ~progress_source() = default;
};

/// The workers of one rank, and the only place where they wait.
///
/// Worker 0 is the thread (or fiber) that runs the body; the others run the jobs that it starts
/// with run(). A waiting worker polls the progress sources in turn until one has done something;
/// where one always has work, the others are polled after every 64th time. While the pool polls,
/// workers without a job do so too.
///
/// Implementations: threads (make_threads) and fibers of a simulated cluster (fibers.hpp).
class pool {
 public:
  using job = std::function<void(worker_t)>;
  using server = std::function<poll_result(worker_t)>;

  /// Polls that find work, one after the other, before a wait looks whether it may end.
  static constexpr unsigned longest_busy = 1024;
  /// Polls in a row in which a source may keep those after it from being polled.
  static constexpr unsigned longest_alone = 64;

  virtual ~pool() = default;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  [[nodiscard]] int workers() const noexcept { return workers_; }

  /// Whether other workers, also of other ranks of the machine, may run on a worker's core.
  [[nodiscard]] virtual bool shares_cores() const noexcept { return false; }

  /// The calling worker. It is 0 for a thread that this pool did not start, even if that is a
  /// worker of another pool: a job may construct a pool of its own.
  [[nodiscard]] virtual worker_t current_worker() const noexcept = 0;

  /// Runs f(k) once on every worker k and returns when all have ended; rethrows the first
  /// exception. Called by worker 0 only, never from inside a job.
  /// Throws    contract_violation inside a task (promise.hpp)
  virtual void run(const job& f) = 0;

  /// Like run(), for a job whose work any worker may do: a worker that has not begun when worker 0
  /// has finished is skipped. For loops, which a sleeping worker would delay.
  virtual void share(const job& f) { run(f); }

  /// Lets other threads run: pauses, then yields, then sleeps briefly as `idle_rounds` grows, so
  /// that many idle workers on few cores do not starve the busy one.
  virtual void relax(unsigned idle_rounds) noexcept = 0;

  /// Yields the core of a worker that has work, once. No effect for fibers, which take turns at
  /// every switch point.
  virtual void yield_core() noexcept {}

  /// A point where a simulated cluster may switch to another worker. No effect for threads.
  virtual void switch_point() noexcept {}

  /// Whether the time of the workers is simulated.
  [[nodiscard]] virtual bool simulated() const noexcept { return false; }
  /// Whether the choice among equals is drawn from a seed, as in a simulated cluster.
  [[nodiscard]] virtual bool draws() const noexcept { return false; }
  /// A number below n.
  [[nodiscard]] virtual std::size_t draw(std::size_t /*n*/) noexcept { return 0; }

  /// Throws system_failure if a simulated cluster has stalled and its bodies could not end
  /// otherwise; no effect for threads. Every wait calls it between two checks.
  virtual void throw_if_stalled() {}

  /// Records jobs and idle times of the workers from now on; nullptr: no longer. When it returns no
  /// worker uses the previous trace. Called by worker 0 outside jobs.
  /// Cost      an empty job; for fibers none, so that a seed gives the same run with a trace
  virtual void set_trace(obs::trace* t) { trace_.store(t, std::memory_order_relaxed); }

  /// Registers or unregisters a source. Called by worker 0 outside jobs. A source must not be
  /// unregistered while worker 0 is inside one. Sources are asked in order.
  enum class order { first, last };
  void add_source(progress_source& s, order where = order::last) {
    while_not_polling(
        [&] { sources_.insert(where == order::first ? sources_.begin() : sources_.end(), &s); });
  }
  void remove_source(progress_source& s) {
    while_not_polling([&] { std::erase(sources_, &s); });
  }

  /// Starts n threads (or fibers) beside the workers, with the numbers from workers() on. Each
  /// calls `serve` with its number again and again until stop_servers(). Called by worker 0 outside
  /// jobs. Throws    system_failure if they cannot be started
  void start_servers(int n, server serve) {
    serve_ = std::move(serve);
    serving_ = std::vector<padded<std::atomic<bool>>>(static_cast<std::size_t>(n));
    servers_end_.store(false, std::memory_order_relaxed);
    try {
      begin_servers(n);
    } catch (...) {
      serve_ = nullptr;
      throw;
    }
  }
  void stop_servers() noexcept {
    if (!serve_) return;
    servers_end_.store(true, std::memory_order_relaxed);
    end_servers();
    serve_ = nullptr;
  }

  /// The pool polls between begin_polling() and end_polling(). Pairs of calls nest. After the last
  /// end_polling() no worker but 0 is inside a source; servers may be. Called by worker 0 outside
  /// jobs.
  /// Throws    system_failure if a simulated cluster has no address space for the workers' stacks
  void begin_polling() {
    if (polling_depth_ == 0) set_polling(true);
    ++polling_depth_;
  }
  void end_polling() {
    if (--polling_depth_ == 0) pause_polling();
  }

  /// Calls f while no worker but 0 is inside a source, and no server serves. Called by worker 0
  /// outside jobs.
  /// Cost      an empty job, if the pool polls; a poll by each server
  /// Throws    contract_violation inside a task, if another worker polls
  template <class F>
  void while_not_polling(F&& f) {
    const paused_servers no_servers(*this);
    if (polling_depth_ == 0) return f();
    pause_polling();
    const resumed_polling after(*this);
    f();
  }

  /// Returns once done() holds; polls the sources and yields meanwhile. All waiting in Cairn uses
  /// this function. Called by worker 0.
  /// Throws    contract_violation inside a task (promise.hpp)
  template <class Done>
  void wait_until(Done&& done) {
    expect_no_task();
    for (unsigned idle_rounds = 0; !done();) {
      if (poll_sources(current_worker())) {
        idle_rounds = 0;
        switch_point();
      } else {
        relax(idle_rounds++);
        throw_if_stalled();
      }
    }
  }

  /// Like wait_until(), but calls done() only when no source has work, urgent() holds, or sources
  /// always had work for a while, such as a task that looks for something again and again. For a
  /// done() that is expensive or begins a termination wave.
  template <class Done, class Urgent>
  void work_until(Done&& done, Urgent&& urgent) {
    expect_no_task();
    for (unsigned idle_rounds = 0, busy_rounds = 0;;) {
      const bool worked = poll_sources(current_worker());
      if ((!worked || ++busy_rounds % longest_busy == 0 || urgent()) && done()) return;
      if (worked) {
        idle_rounds = 0;
        switch_point();
      } else {
        relax(idle_rounds++);
        throw_if_stalled();
      }
    }
  }

  /// Whether a loop of worker k may continue; called after a chunk. May switch to another worker.
  [[nodiscard]] bool may_continue(worker_t k) noexcept {
    switch_point();
    return std::ranges::all_of(sources_, [k](auto* s) { return s->may_continue(k); });
  }
  /// Throws the reason why loops must end: `cancelled` or peer_failure. Serial loops call it after
  /// each piece of at most some milliseconds; parallel_for calls it itself. Called by worker 0
  /// outside jobs.
  void throw_if_interrupted() {
    if (may_continue(main_worker)) return;
    for (auto* const s : sources_) s->throw_if_interrupted();
  }

  /// Takes over items that other workers left for worker k; returns whether there were any.
  bool take_in(worker_t k) noexcept {
    bool any = false;
    for (auto* const s : sources_) any |= s->take_in(k);
    return any;
  }
  /// Polls the sources in turn until one has done something; returns whether one has. After
  /// `longest_alone` such calls in a row it polls all of them: a task that yields again and again
  /// must not keep parked work waiting.
  bool poll_sources(worker_t k) noexcept {
    auto& busy = busy_polls_[k];
    const bool all = busy == longest_alone;
    bool worked = false;
    for (auto* const s : sources_) {
      if (!s->poll(k)) continue;
      worked = true;
      if (!all) break;
    }
    busy = worked && !all ? busy + 1 : 0;
    return worked;
  }

 protected:
  explicit pool(int workers) : workers_(workers), busy_polls_(workers) {}

  /// Calls f, a worker's part of a job.
  template <class F>
  void traced_job(worker_t k, F&& f) {
    auto* const t = trace_.load(std::memory_order_relaxed);
    if (t == nullptr) [[likely]]
      return f();
    const obs::trace_span span(*t, k, obs::trace_kind::job);
    f();
  }
  /// The trace, if it is on.
  [[nodiscard]] obs::trace* trace_now() const noexcept {
    auto* const t = trace_.load(std::memory_order_relaxed);
    return t != nullptr && t->on() ? t : nullptr;
  }

  /// One poll by server k, or none while the servers are paused. Called by its thread or fiber.
  poll_result serve_once(worker_t k) {
    auto& serves = serving_[static_cast<std::size_t>(k - workers_)].value;
    serves.store(true, std::memory_order_seq_cst);
    const bool paused = servers_paused_.load(std::memory_order_seq_cst);
    const auto seen = paused ? poll_result::nothing : serve_(k);
    serves.store(false, std::memory_order_release);
    return seen;
  }
  [[nodiscard]] bool servers_end() const noexcept {
    return servers_end_.load(std::memory_order_relaxed);
  }

 private:
  /// While it lives no server serves.
  class paused_servers {
   public:
    explicit paused_servers(pool& p) : pool_(p) {
      if (!p.serve_) return;
      were_paused_ = p.servers_paused_.exchange(true, std::memory_order_seq_cst);
      for (auto& serves : p.serving_) {
        for (unsigned rounds = 0; serves.value.load(std::memory_order_seq_cst);) {
          p.relax(rounds++);
        }
      }
    }
    ~paused_servers() {
      if (pool_.serve_) pool_.servers_paused_.store(were_paused_, std::memory_order_release);
    }
    paused_servers(const paused_servers&) = delete;
    paused_servers& operator=(const paused_servers&) = delete;

   private:
    pool& pool_;
    bool were_paused_ = false;
  };

  // May throw only if the pool has not polled before.
  virtual void set_polling(bool on) = 0;
  virtual void begin_servers(int n) = 0;
  virtual void end_servers() noexcept = 0;
  // Also after an exception.
  struct resumed_polling {
    explicit resumed_polling(pool& p) : of(p) {}
    ~resumed_polling() { of.set_polling(true); }
    pool& of;
  };
  void pause_polling() {
    if (workers_ > 1) expect_no_task();
    set_polling(false);
    try {
      if (workers_ > 1) run([](worker_t) {});
    } catch (...) {  // a simulated cluster has stalled; the next wait throws
    }
  }

  int workers_;
  int polling_depth_ = 0;
  std::atomic<obs::trace*> trace_{nullptr};
  std::vector<progress_source*> sources_;
  per_worker<unsigned> busy_polls_;  // in a row that have found work
  server serve_;
  std::vector<padded<std::atomic<bool>>> serving_;  // by server
  std::atomic<bool> servers_paused_{false}, servers_end_{false};
};

/// Where the workers of a pool run.
///
/// automatic  on different cores if there is a core for each; the system may still move them
/// on         worker k on the k-th allowed core, counted from `first_core`
/// off        where the system puts them
enum class pinning : std::uint8_t { automatic, on, off };

struct thread_options {
  int workers = 1;
  pinning pin = pinning::automatic;
  int first_core = 0;
  int neighbors = 0;  ///< workers of other ranks on the same cores
};

/// A pool of `workers` - 1 threads and the calling thread, which becomes worker 0. With
/// pinning::on the caller stays on its core until the pool ends, so the caller must also end the
/// pool.
///
/// Throws    system_failure if the threads cannot be started
[[nodiscard]] std::unique_ptr<pool> make_threads(const thread_options& options);

}  // namespace cairn::task
