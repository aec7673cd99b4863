// SPDX-License-Identifier: Apache-2.0
#include "core/local_ranks.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <cairn/base/error.hpp>
#include <cairn/core/launch.hpp>
#include <cairn/net/segment.hpp>

#include "core/stop_cause.hpp"
#include "core/watched_children.hpp"

namespace cairn {
namespace {

using steady = std::chrono::steady_clock;
constexpr auto failure_grace_period = std::chrono::seconds(3);
constexpr auto never = steady::time_point::max();

/// Shared memory in which the processes of one job report how they ended.
class shared_results {
 public:
  explicit shared_results(rank_t ranks)
      : memory_(net::segment::shared(sizeof(shared) + static_cast<std::size_t>(ranks))),
        shared_(new (memory_->data()) shared) {
    memory_->close_descriptor();
  }

  /// Called by a rank as its last action.
  void leave(rank_t rank, const rank_result& result) noexcept {
    if (result.caused_here && !shared_->claimed.exchange(true)) {
      shared_->status = result.status;
      const auto length = std::min(result.sentence.size(), shared_->sentence.size() - 1);
      std::memcpy(shared_->sentence.data(), result.sentence.data(), length);
      shared_->written.store(true, std::memory_order_release);
    }
    left(rank).store(true, std::memory_order_release);
  }
  [[nodiscard]] bool has_left(rank_t rank) noexcept {
    return left(rank).load(std::memory_order_acquire);
  }
  /// The result of the first rank that failed by itself, if any.
  [[nodiscard]] std::optional<rank_result> cause() const {
    if (!shared_->written.load(std::memory_order_acquire)) return std::nullopt;
    return rank_result{shared_->status, shared_->sentence.data(), true};
  }

 private:
  struct shared {
    std::atomic<bool> claimed{false}, written{false};
    int status = 0;
    std::array<char, 4096> sentence{};
  };
  std::atomic_ref<bool> left(rank_t rank) noexcept {
    return std::atomic_ref(reinterpret_cast<bool*>(memory_->data() + sizeof(shared))[rank]);
  }

  std::shared_ptr<net::segment> memory_;
  shared* shared_;
};

/// The parent process: starts, watches and ends the ranks.
class parent {
 public:
  parent(rank_t ranks, const std::optional<time_limit>& limit, interrupt_handler& child_interrupts)
      : results_(ranks),
        child_interrupts_(child_interrupts),
        children_(static_cast<std::size_t>(ranks), 0) {
    if (limit) expect_end(stop_cause::time_limit(limit->length), limit->end);
  }

  void start(const rank_main_function& rank_main) {
    // Otherwise every child would write the buffered output again.
    std::fflush(nullptr);
    std::cout.flush();
    const auto self = getpid();
    for (rank_t r = 0; r < static_cast<rank_t>(children_.size()); ++r) {
      const auto child = fork();
      if (child == 0) run_child(self, r, rank_main);
      if (child < 0) {
        const std::string reason = std::strerror(errno);
        kill_all(SIGKILL);
        for (; num_alive_ > 0; reap()) {
          static_cast<void>(signals_.wait(std::chrono::milliseconds(20)));
        }
        throw system_failure("cannot start rank " + std::to_string(r) + ": " + reason);
      }
      children_[static_cast<std::size_t>(r)] = child;
      ++num_alive_;
    }
  }

  /// Returns the signal that interrupted this process, 0 if none.
  int watch() {
    int interrupted = 0;
    while (true) {
      reap();
      if (num_alive_ == 0) break;
      if (steady::now() >= patient_until_) give_up();
      if (steady::now() >= deadline_) kill_all(SIGKILL);
      const bool limited = deadline_ != never;
      const auto before = steady::now();
      const int signal = signals_.wait(limited ? between_looks / 25 : between_looks);
      // This process was stopped, and the ranks probably too.
      if (steady::now() - before > 2 * between_looks && patient_until_ != never) {
        patient_until_ = std::max(patient_until_, steady::now() + patience);
      }
      if (cancels(signal) && !cancelled_at_) {
        // The ranks stop together and report it. A terminal has signalled them too, which is
        // harmless.
        cancelled_at_ = steady::now();
        expect_end(stop_cause::signal(signal), *cancelled_at_);
        kill_all(signal);
      } else if (cancels(signal) && steady::now() - *cancelled_at_ < same_request) {
        continue;
      } else if (signal != 0 && signal != SIGCHLD) {
        interrupted = signal;
        end_by(steady::now());
      }
    }
    // A terminal signals all processes at once, so the children may have ended first. After a
    // request to cancel they have ended correctly.
    for (int signal = 1; interrupted == 0 && signal != 0;) {
      signal = signals_.wait(std::chrono::milliseconds(0));
      if (signal != SIGCHLD && !cancels(signal)) interrupted = signal;
    }
    return interrupted;
  }

  [[nodiscard]] rank_result result() const {
    if (const auto cause = results_.cause()) return *cause;
    return first_failure_;
  }

 private:
  [[noreturn]] void run_child(pid_t parent_id, rank_t rank, const rank_main_function& rank_main) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent_id) _exit(1);  // the parent died before prctl()
    signals_.restore();
    auto result = rank_main(rank, child_interrupts_);
    std::cout.flush();
    if (const auto fault = output_fault(); result.status == 0 && !fault.empty()) {
      result = {1, fault, true};
    }
    std::fflush(nullptr);
    results_.leave(rank, result);
    // Not exit(): the parent's exit handlers must not run here.
    _exit(result.status);
  }

  void reap() {
    for (std::size_t i = 0; i < children_.size(); ++i) {
      int status = 0;
      if (children_[i] == 0 || waitpid(children_[i], &status, WNOHANG) != children_[i]) continue;
      children_[i] = 0;
      --num_alive_;
      record_exit(static_cast<rank_t>(i), status);
    }
  }

  void record_exit(rank_t rank, int status) {
    const bool left = WIFEXITED(status) && results_.has_left(rank);
    if (left && WEXITSTATUS(status) == 0) return;
    if (gave_up_ && results_.has_left(rank)) return;  // killed after its last action
    end_by(left ? steady::now() + failure_grace_period : steady::now());
    if (first_failure_.status != 0) return;
    if (left) {
      first_failure_.status = WEXITSTATUS(status);
    } else if (WIFSIGNALED(status) && gave_up_) {
      first_failure_ = {cause_.status(),
                        cause_.sentence() + "; ranks that did not stop within " +
                            std::to_string(patience.count()) + " s were killed",
                        true};
    } else if (WIFSIGNALED(status)) {
      first_failure_ = {1, killed_sentence(rank, WTERMSIG(status)), true};
    } else {
      first_failure_ = {1,
                        "rank " + std::to_string(rank) + " ended on its own with exit status " +
                            std::to_string(WEXITSTATUS(status)),
                        true};
    }
  }

  void end_by(steady::time_point moment) noexcept { deadline_ = std::min(deadline_, moment); }

  // The ranks are cancelled at that moment, and stop together.
  void expect_end(stop_cause cause, steady::time_point cancelled_at) noexcept {
    if (cancelled_at + patience >= patient_until_) return;
    cause_ = cause;
    patient_until_ = cancelled_at + patience;
  }

  // One rank may not react, as if a debugger holds it; then the others wait for it.
  void give_up() {
    patient_until_ = never;
    gave_up_ = true;
    end_by(steady::now());
  }

  void kill_all(int signal) noexcept {
    for (const auto child : children_) {
      if (child != 0) kill(child, signal);
    }
  }

  held_signals signals_;
  shared_results results_;
  interrupt_handler& child_interrupts_;
  std::vector<pid_t> children_;  // by rank; 0: reaped
  int num_alive_ = 0;
  steady::time_point deadline_ = never;  // when those that are left are killed
  steady::time_point patient_until_ = never;
  bool gave_up_ = false;
  stop_cause cause_;  // of patient_until_
  rank_result first_failure_;
  std::optional<steady::time_point> cancelled_at_;
};

}  // namespace

rank_result run_local_ranks(rank_t ranks, const std::optional<time_limit>& limit,
                            const rank_main_function& rank_main) {
  int interrupted = 0;
  rank_result result;
  {
    // For the children, which inherit it. This process waits for its signals.
    interrupt_handler interrupts(interrupt_handler::second::nothing, 1);
    parent first_process(ranks, limit, interrupts);
    first_process.start(rank_main);
    interrupted = first_process.watch();
    result = first_process.result();
  }
  if (interrupted != 0) {
    raise(interrupted);  // the program's own handler may return
    return {1, "", true};
  }
  return result;
}

}  // namespace cairn
