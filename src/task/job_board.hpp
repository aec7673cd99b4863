// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include <cairn/base/types.hpp>
#include <cairn/task/per_worker.hpp>

namespace cairn::task {

/// How worker 0 of a pool gives jobs to the other workers, and how they sleep and wake.
///
/// A job has a part for each worker. Each of the others looks at next() again and again; one that
/// has found nothing for long sleeps. A part runs once: its worker claims it, or worker 0 takes it
/// back.
///
/// Job       of which post() takes the address
/// Atomic    std::atomic; tests substitute one whose every access is a step of a schedule
/// Thread-safety: worker k calls next(), claim(k, number), part_ended() and park(); worker 0 calls
///           the others.
template <class Job, template <class> class Atomic = std::atomic>
class job_board {
 public:
  explicit job_board(int workers) : claimed_(workers) {}

  /// Gives a job to the other workers. Returns its number. They use the job until all_ended().
  std::uint64_t post(const Job& job) {
    const auto number = publish(job);
    wake_sleepers();
    return number;
  }
  /// Takes back the parts of a job that no worker has claimed, so that worker 0 does not wait for a
  /// sleeping worker.
  void take_back(std::uint64_t number) {
    for (worker_t k{1}; k < claimed_.workers(); ++k) {
      if (claim(k, number)) --expected_;
    }
  }
  /// Whether all parts of all jobs have ended.
  [[nodiscard]] bool all_ended() const noexcept {
    return ended_.load(std::memory_order_acquire) == expected_;
  }
  void set_polling(bool on) {
    // A worker that sees the flag must also see the sources added before.
    polling_.store(on);
    if (on) wake_sleepers();
  }
  void stop() {
    stopping_.store(true);
    wake_sleepers();
  }

  enum class turn { job, stop, poll, idle };
  /// What a worker does that has seen the jobs up to number `seen`, which becomes the number of the
  /// job.
  [[nodiscard]] turn next(std::uint64_t& seen) const noexcept {
    if (const auto number = job_number_.load(std::memory_order_acquire); number != seen) {
      seen = number;
      return turn::job;
    }
    if (stopping_.load(std::memory_order_relaxed)) return turn::stop;
    return polling_.load(std::memory_order_acquire) ? turn::poll : turn::idle;
  }
  /// Claims worker k's part of a job; returns false if it was claimed before.
  [[nodiscard]] bool claim(worker_t k, std::uint64_t number) noexcept {
    auto& claimed = claimed_[k];
    auto last = claimed.load(std::memory_order_relaxed);
    return last < number &&
           claimed.compare_exchange_strong(last, number, std::memory_order_acq_rel);
  }
  /// The current job. Called by worker 0, and by others that have claimed a part.
  [[nodiscard]] const Job& job() const noexcept { return *job_; }
  void part_ended() noexcept { ended_.fetch_add(1, std::memory_order_release); }

  /// Sleeps until there is something new, or less long.
  ///
  /// Worker 0 writes what the worker waits for and then reads sleepers_; the worker does it in the
  /// opposite order. So one of them sees the other.
  void park(std::uint64_t seen) noexcept {
    const auto wake_count = wake_count_.load(std::memory_order_acquire);
    sleepers_.fetch_add(1);
    if (nothing_new(seen)) wake_count_.wait(wake_count, std::memory_order_acquire);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

 protected:  // for the broken twins of tests
  std::uint64_t publish(const Job& job) {
    expected_ += static_cast<std::uint64_t>(claimed_.workers() - 1);
    job_ = &job;
    return job_number_.fetch_add(1) + 1;
  }
  void wake_sleepers() {
    if (sleepers_.load() == 0) return;
    wake_count_.fetch_add(1, std::memory_order_release);
    wake_count_.notify_all();
  }
  [[nodiscard]] bool nothing_new(std::uint64_t seen) const noexcept {
    return job_number_.load() == seen && !stopping_.load() && !polling_.load();
  }

  per_worker<Atomic<std::uint64_t>> claimed_;  // the last job whose part was claimed
  // What idle workers read again and again: a job writes this line once.
  alignas(cache_line) const Job* job_ = nullptr;
  Atomic<std::uint64_t> job_number_{0};
  Atomic<bool> stopping_{false};
  Atomic<bool> polling_{false};
  alignas(cache_line) Atomic<std::uint32_t> wake_count_{0};
  Atomic<int> sleepers_{0};
  alignas(cache_line) Atomic<std::uint64_t> ended_{0};  // parts of jobs, without worker 0's
  alignas(cache_line) std::uint64_t expected_ = 0;      // ended_ after the current job
};

}  // namespace cairn::task
