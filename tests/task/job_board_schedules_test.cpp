// SPDX-License-Identifier: Apache-2.0
//
// Worker 0 of a pool that gives jobs to two others, which sleep and wake, in schedules drawn from
// seeds, over memory as weak as C++ allows.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <cairn/base/random.hpp>

#include <support/schedules.hpp>
#include <support/stepper.hpp>

#include "task/job_board.hpp"

namespace cairn::task::job_board_schedules_test {
namespace {

using support::stepped;
using support::stepped_data;
using support::stepper;

constexpr std::size_t num_workers = 3;
constexpr worker_t first_other{1};

enum class ending { correct, stuck, ran_twice, ran_late, not_run, job_in_use, source_in_use };

/// A job, and what each part of it uses: worker 0 changes it between two jobs.
struct recorded_job {
  std::array<stepped_data, num_workers> used;
  std::array<int, num_workers> runs{};
  bool open = false;
};

using good_board = job_board<recorded_job, stepped>;

// The broken twins.
struct counts_itself_late : good_board {
  using good_board::good_board;
  void park(std::uint64_t seen) {
    const auto wake_count = wake_count_.load(std::memory_order_acquire);
    if (!nothing_new(seen)) return;
    sleepers_.fetch_add(1);
    wake_count_.wait(wake_count, std::memory_order_acquire);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
};
struct reads_the_wakes_late : good_board {
  using good_board::good_board;
  void park(std::uint64_t seen) {
    sleepers_.fetch_add(1);
    if (nothing_new(seen)) {
      const auto wake_count = wake_count_.load(std::memory_order_acquire);
      wake_count_.wait(wake_count, std::memory_order_acquire);
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
};
struct overlooks_polling : good_board {
  using good_board::good_board;
  void park(std::uint64_t seen) {
    const auto wake_count = wake_count_.load(std::memory_order_acquire);
    sleepers_.fetch_add(1);
    if (job_number_.load() == seen && !stopping_.load()) {
      wake_count_.wait(wake_count, std::memory_order_acquire);
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }
};
struct looks_for_sleepers_first : good_board {
  using good_board::good_board;
  std::uint64_t post(const recorded_job& job) {
    const bool any = sleepers_.load() != 0;
    const auto number = publish(job);
    if (any) wake_sleepers();
    return number;
  }
};
struct wakes_without_counting : good_board {
  using good_board::good_board;
  std::uint64_t post(const recorded_job& job) {
    const auto number = publish(job);
    if (sleepers_.load() != 0) wake_count_.notify_all();
    return number;
  }
};
struct stops_without_waking : good_board {
  using good_board::good_board;
  void stop() { stopping_.store(true); }
};
struct claims_in_two_steps : good_board {
  using good_board::good_board;
  bool claim(worker_t k, std::uint64_t number) {
    if (claimed_[k].load(std::memory_order_acquire) >= number) return false;
    claimed_[k].store(number, std::memory_order_release);
    return true;
  }
  void take_back(std::uint64_t number) {
    for (auto k = first_other; k < claimed_.workers(); ++k) {
      if (claim(k, number)) --expected_;
    }
  }
};
struct ends_without_release : good_board {
  using good_board::good_board;
  void part_ended() { ended_.fetch_add(1, std::memory_order_relaxed); }
};
struct sees_jobs_without_acquire : good_board {
  using good_board::good_board;
  turn next(std::uint64_t& seen) const {
    if (const auto number = job_number_.load(std::memory_order_relaxed); number != seen) {
      seen = number;
      return turn::job;
    }
    return good_board::next(seen);
  }
};

enum class pause { runs_a_job, forgets_to };

/// A pool's worker 0, which runs some jobs and changes the sources, and the loops of the others.
template <class Board>
class pool_of_workers {
 public:
  explicit pool_of_workers(stepper& s, pause how = pause::runs_a_job) : stepper_(s), pause_(how) {}

  ending play(std::uint64_t seed) {
    ends_ = ending::correct;
    std::vector<std::function<void()>> bodies;
    bodies.emplace_back([this, seed] { run_jobs(random64(seed).stream(1)); });
    for (worker_t k{1}; k < worker_t(num_workers); ++k) {
      bodies.emplace_back([this, seed, k] { loop(random64(seed).stream(k + 1u), k); });
    }
    const auto prepare = [this] {
      board_.emplace(static_cast<int>(num_workers));
      job_.emplace();
      sources_.emplace();
      polls_ = {};
    };
    stepper_.play(seed, prepare, bodies);
    return stepper_.stalled() ? ending::stuck : ends_;
  }

 private:
  void expect(bool well, ending otherwise) {
    if (!well && ends_ == ending::correct) ends_ = otherwise;
  }

  // Worker 0 --------------------------------------------------------------------------------------

  void run_jobs(random64 draw) {
    bool polling = false;
    for (auto jobs = 1 + draw.below(4); jobs > 0 && !stepper_.stalled(); --jobs) {
      switch (draw.below(3)) {
        case 0:
          run();
          break;
        case 1:
          share();
          break;
        default:
          if (polling) pause_polling();
          change_sources();
          board_->set_polling(polling = true);
          wait_for_polls();
      }
    }
    board_->stop();
  }
  void run() {
    begin_job();
    static_cast<void>(board_->post(*job_));
    finish();
    for (worker_t k{1}; k < worker_t(num_workers); ++k) {
      expect(job_->runs[k] == 1, ending::not_run);
    }
  }
  void share() {
    begin_job();
    const auto number = board_->post(*job_);
    stepper_.step();
    board_->take_back(number);
    finish();
  }
  void begin_job() {
    for (auto& u : job_->used) expect(u.touch(), ending::job_in_use);
    job_->runs = {};
    job_->open = true;
  }
  void finish() {
    while (!board_->all_ended() && !stepper_.stalled()) {
    }
    job_->open = false;
    for (auto& u : job_->used) expect(u.touch(), ending::job_in_use);
  }
  // As pool::while_not_polling().
  void pause_polling() {
    board_->set_polling(false);
    if (pause_ == pause::runs_a_job) run();
  }
  void change_sources() {
    for (auto& s : *sources_) expect(s.touch(), ending::source_in_use);
    polls_ = {};
  }
  // No worker sleeps while the pool polls.
  void wait_for_polls() {
    while (std::ranges::count(polls_, 0) > 1 && !stepper_.stalled()) stepper_.step();
  }

  // The other workers: thread_pool::loop() --------------------------------------------------------

  void loop(random64 draw, worker_t k) {
    using turn = typename Board::turn;
    std::uint64_t jobs_seen = 0;
    while (!stepper_.stalled()) {
      switch (board_->next(jobs_seen)) {
        case turn::job:
          if (!board_->claim(k, jobs_seen)) break;
          run_part(k);
          board_->part_ended();
          break;
        case turn::stop:
          return;
        case turn::poll:
          expect((*sources_)[k].touch(), ending::source_in_use);
          ++polls_[k];
          break;
        case turn::idle:
          if (draw.below(2) == 0) board_->park(jobs_seen);
      }
    }
  }
  void run_part(worker_t k) {
    auto& job = *job_;
    expect(job.open, ending::ran_late);
    expect(job.used[k].touch(), ending::job_in_use);
    expect(++job.runs[k] == 1, ending::ran_twice);
    expect(job.open, ending::ran_late);
  }

  stepper& stepper_;
  const pause pause_;
  std::optional<Board> board_;
  std::optional<recorded_job> job_;
  std::optional<std::array<stepped_data, num_workers>> sources_;
  std::array<int, num_workers> polls_{};
  ending ends_ = ending::correct;
};

TEST(JobBoard, EverySchedule) {
  stepper steps(num_workers);
  pool_of_workers<good_board> workers(steps);
  support::expect_every_schedule(ending::correct,
                                 [&](std::uint64_t seed) { return workers.play(seed); });
}

template <class Board>
std::uint64_t caught(pause how = pause::runs_a_job) {
  stepper steps(num_workers);
  pool_of_workers<Board> workers(steps, how);
  return support::num_caught(ending::correct,
                             [&](std::uint64_t seed) { return workers.play(seed); });
}
constexpr auto many = support::num_twin_schedules / 1000;

TEST(JobBoardTwin, ThatCountsItselfLateIsCaught) { EXPECT_GT(caught<counts_itself_late>(), many); }
TEST(JobBoardTwin, ThatReadsTheWakesLateIsCaught) {
  EXPECT_GT(caught<reads_the_wakes_late>(), many);
}
TEST(JobBoardTwin, ThatOverlooksPollingIsCaught) { EXPECT_GT(caught<overlooks_polling>(), many); }
TEST(JobBoardTwin, ThatLooksForSleepersFirstIsCaught) {
  EXPECT_GT(caught<looks_for_sleepers_first>(), many);
}
TEST(JobBoardTwin, ThatWakesWithoutCountingIsCaught) {
  EXPECT_GT(caught<wakes_without_counting>(), many);
}
TEST(JobBoardTwin, ThatStopsWithoutWakingIsCaught) {
  EXPECT_GT(caught<stops_without_waking>(), many);
}
TEST(JobBoardTwin, ThatClaimsInTwoStepsIsCaught) { EXPECT_GT(caught<claims_in_two_steps>(), many); }
TEST(JobBoardTwin, ThatEndsWithoutReleaseIsCaught) {
  EXPECT_GT(caught<ends_without_release>(), many);
}
TEST(JobBoardTwin, ThatSeesJobsWithoutAcquireIsCaught) {
  EXPECT_GT(caught<sees_jobs_without_acquire>(), many);
}
TEST(JobBoardTwin, WhoseStoresAndLoadsHaveNoOrderIsCaught) {
  EXPECT_GT((caught<job_board<recorded_job, support::stepped_without_order>>()), many);
}
TEST(JobBoardTwin, ThatPausesWithoutAJobIsCaught) {
  EXPECT_GT(caught<good_board>(pause::forgets_to), many);
}

}  // namespace
}  // namespace cairn::task::job_board_schedules_test
