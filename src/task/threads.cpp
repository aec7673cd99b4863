// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <time.h>

#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/hw/pause.hpp>
#include <cairn/hw/topology.hpp>
#include <cairn/task/pool.hpp>

#include "task/core_spread.hpp"
#include "task/job_board.hpp"

namespace cairn::task {
namespace {

// The pool that started this thread, and its number there. In all other pools, also in one that it
// constructs itself, the thread is worker 0.
struct place {
  const pool* of = nullptr;
  worker_t worker = main_worker;
};
thread_local place this_thread;

// Pauses before the first yield, if each worker has a core, also those of other ranks. Otherwise
// another worker may have work for the core.
constexpr unsigned spins = 64;
// The same for a worker between two jobs, because a yield takes as long as the gap between two
// small loops. If workers share cores, a worker between two jobs pauses `spins` times.
constexpr unsigned job_spins = 500;
constexpr unsigned yields = 2000;  // yields before the first sleep
// A server shares a core with a worker where there are no others: it yields less often.
constexpr unsigned server_yields = 16;
constexpr long short_nap_ns = 50'000, long_nap_ns = 1'000'000;

void nap(long ns) noexcept {
  const timespec time{0, ns};
  nanosleep(&time, nullptr);
}

class thread_pool final : public pool {
 public:
  explicit thread_pool(const thread_options& options)
      : pool(options.workers),
        board_(options.workers),
        spins_(options.workers + options.neighbors <= cores_.size() ? spins : 0),
        job_spins_(spins_ != 0 ? job_spins : spins),
        spread_(options, cores_) {
    try {
      for (worker_t k{1}; k < options.workers; ++k) {
        threads_.emplace_back([this, k, options] {
          this_thread = {this, k};
          if (options.pin == pinning::on) cores_.pin_this_thread(options.first_core + k);
          loop(k);
        });
      }
    } catch (const std::exception& e) {
      stop();
      throw system_failure("cannot start " + std::to_string(options.workers) +
                           " workers: " + e.what());
    }
    if (options.pin == pinning::on) {
      cores_.pin_this_thread(options.first_core);
      caller_is_pinned_ = true;
    }
  }

  ~thread_pool() override {
    stop();
    if (caller_is_pinned_) cores_.unpin_this_thread();
  }

  bool shares_cores() const noexcept override { return spins_ == 0; }

  worker_t current_worker() const noexcept override {
    return this_thread.of == this ? this_thread.worker : main_worker;
  }

  void run(const job& f) override {
    start(f);
    finish();
  }

  void share(const job& f) override {
    board_.take_back(start(f));
    finish();
  }

  void relax(unsigned idle_rounds) noexcept override {
    if (idle_rounds < spins_) {
      hw::pause();
    } else if (idle_rounds < spins_ + yields) {
      sched_yield();
    } else {
      nap(short_nap_ns);
    }
  }

  void yield_core() noexcept override { sched_yield(); }

  void set_trace(obs::trace* t) override {
    pool::set_trace(t);
    if (workers() > 1) run([](worker_t) {});
  }

 private:
  void begin_servers(int n) override {
    try {
      for (worker_t k{workers()}; k < workers() + n; ++k) {
        servers_.emplace_back([this, k] {
          this_thread = {this, k};
          cores_.unpin_this_thread();
          serve(k);
        });
      }
    } catch (const std::exception& e) {
      stop_servers();
      throw system_failure("cannot start a thread beside the workers: " + std::string(e.what()));
    }
  }
  void end_servers() noexcept override {
    for (auto& t : servers_) t.join();
    servers_.clear();
  }
  void serve(worker_t k) {
    for (unsigned idle_rounds = 0; !servers_end();) {
      switch (serve_once(k)) {
        case poll_result::worked:
          idle_rounds = 0;
          break;
        case poll_result::nothing:
          if (idle_rounds++ < server_yields) {
            sched_yield();
          } else {
            nap(short_nap_ns);
          }
          break;
        case poll_result::rest:
          nap(long_nap_ns);
          break;
      }
    }
  }

  void set_polling(bool on) override { board_.set_polling(on); }

  // Publishes f and runs worker 0's part. Returns the job's number.
  std::uint64_t start(const job& f) {
    expect_no_task();  // no exception may leave while workers use f
    CAIRN_ASSERT(current_worker() == 0);
    spread_.record_core(main_worker);
    const auto number = board_.post(f);
    run_guarded(main_worker);
    return number;
  }

  void finish() {
    if (auto* const t = trace_now()) [[unlikely]] {
      obs::trace_span span(*t, main_worker, obs::trace_kind::wait);
      if (span) span->set_text("wait for workers");
      wait_for_workers();
    } else {
      wait_for_workers();
    }
    rethrow_first_error();
  }
  void wait_for_workers() {
    const auto all_ended = [this] { return board_.all_ended(); };
    // Workers with equal shares end together; polling the sources would delay the next job.
    for (unsigned i = 0; i < spins / 2 && !all_ended(); ++i) hw::pause();
    wait_until(all_ended);
  }

  void loop(worker_t k) {
    using turn = job_board<job>::turn;
    std::uint64_t jobs_seen = 0;
    obs::idle_span idle_time(k);  // long enough to sleep
    for (unsigned idle_rounds = 0;;) {
      if (idle_rounds >= job_spins_ + yields) idle_time.before_poll(trace_now());
      switch (board_.next(jobs_seen)) {
        case turn::job:
          idle_rounds = 0;
          idle_time.end();
          spread_.record_core(k);
          if (!board_.claim(k, jobs_seen)) break;
          run_guarded(k);
          board_.part_ended();
          break;
        case turn::stop:
          return;
        case turn::poll:
          if (poll_sources(k)) {
            idle_time.end_at_look();
            idle_rounds = 0;
          } else {
            relax(idle_rounds++);
          }
          break;
        case turn::idle:
          idle_rounds = wait_for_job(idle_rounds, jobs_seen);
          break;
      }
    }
  }

  // Returns the number of idle rounds after this one.
  unsigned wait_for_job(unsigned idle_rounds, std::uint64_t jobs_seen) noexcept {
    if (idle_rounds < job_spins_) {
      hw::pause();  // the next job usually comes at once
    } else if (idle_rounds < job_spins_ + yields) {
      sched_yield();
    } else {
      board_.park(jobs_seen);
      return 0;
    }
    return idle_rounds + 1;
  }

  void run_guarded(worker_t k) {
    try {
      traced_job(k, [&] { board_.job()(k); });
    } catch (...) {
      keep_first_error();
    }
  }

  void keep_first_error() {
    const std::lock_guard held(error_guard_);
    if (!first_error_) first_error_ = std::current_exception();
  }

  void rethrow_first_error() {
    std::exception_ptr error;
    {
      const std::lock_guard held(error_guard_);
      error = std::exchange(first_error_, nullptr);
    }
    if (error) std::rethrow_exception(error);
  }

  void stop() {
    board_.stop();
    for (auto& t : threads_) t.join();
  }

  job_board<job> board_;
  std::mutex error_guard_;
  std::exception_ptr first_error_;
  // Read before any thread is pinned, because threads inherit the set of the thread that starts
  // them. On a line that no job writes.
  alignas(cache_line) const hw::core_set cores_ = hw::core_set::of_this_thread();
  const unsigned spins_, job_spins_;
  bool caller_is_pinned_ = false;
  core_spread spread_;
  std::vector<std::thread> threads_;
  std::vector<std::thread> servers_;
};

}  // namespace

std::unique_ptr<pool> make_threads(const thread_options& options) {
  CAIRN_EXPECTS(options.workers >= 1);
  return std::make_unique<thread_pool>(options);
}

}  // namespace cairn::task
