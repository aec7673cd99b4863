// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/task/pool.hpp>

#include "task/fiber_state.hpp"

namespace cairn::task {

/// The workers of one simulated rank. While the pool does not poll, a worker without a job has
/// no fiber; but once the pool has polled, fibers for all of them are left spare until its end, so
/// that it can poll again.
class fiber_pool final : public pool {
 public:
  fiber_pool(fiber_scheduler::state& scheduler, int workers)
      : pool(workers),
        scheduler_(scheduler),
        number_(scheduler.pools++),
        workers_(static_cast<std::size_t>(workers)) {}

  // Polling workers must end before the objects that they use are destroyed.
  ~fiber_pool() override {
    polling_ = false;
    const bool from_outside = num_at_work_ > 0 && scheduler_.current == &scheduler_.runner;
    if (from_outside) {
      scheduler_.add_runnable(scheduler_.runner);
      scheduler_.runner_is_runnable = true;
    }
    // With `times`, active workers may be ahead of the fiber that waits for them.
    for (unsigned rounds = 0; num_at_work_ > 0;) {
      scheduler_.wake_pool(number_, scheduler_.clock.now_ns());
      if (scheduler_.options.times) {
        scheduler_.wait(++rounds);
      } else {
        scheduler_.switch_point();
      }
    }
    if (from_outside) {
      scheduler_.runner_is_runnable = false;
      scheduler_.remove_runnable(scheduler_.runner);
    }
    if (keeps_fibers_) scheduler_.promised -= without_work();
  }

  worker_t current_worker() const noexcept override { return scheduler_.current->worker; }

  void run(const job& f) override {
    expect_no_task();
    CAIRN_EXPECTS(current_worker() == 0);
    CAIRN_EXPECTS(workers() == 1 || scheduler_.current != &scheduler_.runner,
                  "only the body of a simulated rank may start jobs");
    if (!keeps_fibers_) scheduler_.prepare(without_work());
    job_ = &f;  // nothing throws until all workers have begun
    ++job_number_;
    unfinished_ = workers() - 1;
    for (worker_t k{1}; k < workers(); ++k) wake(k);
    scheduler_.wake_pool(number_, scheduler_.clock.now_ns());
    switch_point();
    run_guarded(main_worker);
    while (unfinished_ > 0) {
      // No exception may leave while workers use f, which belongs to the caller.
      try {
        wait_until([&] { return unfinished_ == 0; });
      } catch (...) {
        keep_first_error();
      }
    }
    if (first_error_) std::rethrow_exception(std::exchange(first_error_, nullptr));
  }

  void relax(unsigned idle_rounds) noexcept override { scheduler_.wait(idle_rounds); }
  void switch_point() noexcept override { scheduler_.switch_point(); }

  bool simulated() const noexcept override { return true; }
  // With `times` tasks run in the order of threads, and the seed only breaks ties.
  bool draws() const noexcept override { return !scheduler_.options.times; }
  std::size_t draw(std::size_t n) noexcept override {
    return n < 2 ? 0 : static_cast<std::size_t>(scheduler_.random.below(n));
  }

  void throw_if_stalled() override {
    CAIRN_EXPECTS(scheduler_.current != &scheduler_.runner,
                  "only the body of a simulated rank may wait");
    if (scheduler_.given_up) throw system_failure(scheduler_.stall);
  }

  [[nodiscard]] const fiber_scheduler::state& scheduler() const noexcept { return scheduler_; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }

 private:
  void begin_servers(int n) override {
    scheduler_.prepare(static_cast<std::size_t>(n));
    num_servers_ = n;
    for (worker_t k{workers()}; k < workers() + n; ++k) {
      scheduler_.begin(number_, k, [this, k] {
        for (unsigned idle_rounds = 0; !servers_end() && !scheduler_.given_up;) {
          if (serve_once(k) == poll_result::worked) {
            idle_rounds = 0;
            switch_point();
          } else {
            relax(idle_rounds++);
          }
        }
        --num_servers_;
      });
    }
  }
  void end_servers() noexcept override {
    for (unsigned rounds = 0; num_servers_ > 0;) {
      scheduler_.wake_pool(number_, scheduler_.clock.now_ns());
      relax(++rounds);
    }
  }

  void set_polling(bool on) override {
    if (on && !keeps_fibers_) {
      scheduler_.prepare(without_work());
      scheduler_.promised += without_work();
      keeps_fibers_ = true;
    }
    polling_ = on;
    if (!on) return;
    for (worker_t k{1}; k < workers(); ++k) wake(k);
  }

  struct worker_state {
    bool at_work = false;
    std::uint64_t jobs_seen = 0;
  };

  /// Number of workers beside worker 0 that have no fiber.
  [[nodiscard]] std::size_t without_work() const noexcept {
    return workers_.size() - 1 - static_cast<std::size_t>(num_at_work_);
  }

  // The caller has prepared a fiber.
  void wake(worker_t k) {
    if (std::exchange(workers_[static_cast<std::size_t>(k)].at_work, true)) return;
    ++num_at_work_;
    if (keeps_fibers_) --scheduler_.promised;
    scheduler_.begin(number_, k, [this, k] {
      auto& me = workers_[static_cast<std::size_t>(k)];
      std::exception_ptr error;
      try {
        loop(k, me);
      } catch (...) {
        error = std::current_exception();
      }
      me.at_work = false;
      --num_at_work_;
      if (keeps_fibers_) ++scheduler_.promised;  // it is spare before another fiber runs
      if (error) std::rethrow_exception(error);
    });
  }

  void loop(worker_t k, worker_state& me) {
    obs::idle_span vain(k);
    for (unsigned idle_rounds = 0;;) {
      if (idle_rounds > 0) vain.before_poll(trace_now());
      if (me.jobs_seen != job_number_) {
        me.jobs_seen = job_number_;
        vain.end();
        run_guarded(k);
        if (scheduler_.options.times)
          scheduler_.switch_point();  // the job ends at the worker's time
        --unfinished_;
        idle_rounds = 0;
      } else if (!polling_ || scheduler_.given_up) {
        vain.end();
        return;
      } else if (poll_sources(k)) {
        vain.end_at_look();
        idle_rounds = 0;
        switch_point();
      } else {
        relax(idle_rounds++);
      }
    }
  }

  void run_guarded(worker_t k) {
    try {
      traced_job(k, [&] { (*job_)(k); });
    } catch (...) {
      keep_first_error();
    }
  }

  void keep_first_error() {
    if (!first_error_) first_error_ = std::current_exception();
  }

  fiber_scheduler::state& scheduler_;
  std::size_t number_;
  std::vector<worker_state> workers_;
  int num_at_work_ = 0;
  int num_servers_ = 0;
  bool polling_ = false;
  bool keeps_fibers_ = false;  // for workers without work
  const job* job_ = nullptr;
  std::uint64_t job_number_ = 0;
  int unfinished_ = 0;
  std::exception_ptr first_error_;
};

}  // namespace cairn::task
