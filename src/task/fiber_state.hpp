// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cairn/task/fibers.hpp>

#include "task/fiber.hpp"

namespace cairn::task {

/// A fiber that makes more steps than this between two waits counts as active.
inline constexpr unsigned max_steps_between_waits = 4;

/// A fiber and its assigned work; without work it is spare.
struct fiber_record {
  fiber_record() = default;
  fiber_record(fiber_scheduler::state& s, std::size_t stack_bytes, void (*main)(void*))
      : context(stack_bytes, main, this), scheduler(&s) {}

  fiber context;
  fiber_scheduler::state* scheduler = nullptr;
  std::size_t pool = 0;  // the number of its pool
  worker_t worker = main_worker;
  std::function<void()> work;
  std::size_t place = 0;  // index in `runnable`
  // Whether it waits, as observed in detection round `round`.
  std::uint64_t round = 0;
  unsigned idle_looks = 0, steps = 0;
  // With `times`: when it resumes (or resumed, if it runs), and since when it has waited.
  std::uint64_t at_ns = 0, slept_ns = 0;
  std::uint64_t tie = 0;  // order among records with the same time
  bool sleeps = false;    // it is in the timetable
};

/// Orders records by the time at which they resume.
struct earlier {
  bool operator()(const fiber_record* a, const fiber_record* b) const noexcept {
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->tie < b->tie;
  }
};

struct fiber_scheduler::state {
  state(random64& r, hw::virtual_clock& c, fiber_options&& o)
      : random(r), clock(c), options(std::move(o)) {}

  /// The next n calls of begin() find a fiber. Throws    system_failure
  void prepare(std::size_t n);
  void begin(std::size_t pool, worker_t worker, std::function<void()> work);
  static void fiber_main(void* argument);
  void end(fiber_record& s);
  void add_runnable(fiber_record& s);
  void remove_runnable(fiber_record& s);

  // timed_turns.cpp: used with `times`.
  void charge();
  void step_in_time();
  void wait_in_time(unsigned idle_rounds);
  void resume_at(std::uint64_t time_ns);
  fiber_record& pick_in_time();
  void sleep_until(fiber_record& s, std::uint64_t time_ns);
  void wake(fiber_record& s);
  void wake_pool(std::size_t pool, std::uint64_t time_ns);
  [[nodiscard]] bool something_comes() const;
  void leap(std::uint64_t ns);

  void switch_point();
  void wait(unsigned idle_rounds);
  fiber_record& pick();
  void note(const fiber_record& next);  // updates the fingerprint
  void switch_to(fiber_record& next);

  void mark_waiting(fiber_record& s);
  void mark_active(fiber_record& s);
  void all_wait();
  void declare_stall();
  [[nodiscard]] std::string describe_stall() const;
  void keep_first_error(std::exception_ptr e) {
    if (!first_error) first_error = std::move(e);
  }

  random64& random;
  hw::virtual_clock& clock;
  fiber_options options;

  fiber_record runner;  // represents the stack of the thread
  bool runner_is_runnable = false;
  fiber_record* current = &runner;
  std::vector<std::unique_ptr<fiber_record>> records;
  std::vector<fiber_record*> spare, runnable;
  std::size_t promised = 0;                    // spare fibers that pools keep for their workers
  std::set<fiber_record*, earlier> timetable;  // the sleeping records
  std::vector<std::vector<fiber_record*>> by_pool;  // the runnable records
  std::size_t pools = 0, bodies = 0;
  std::exception_ptr first_error;

  std::uint64_t turns = 0, fingerprint = 0, burst = 0;
  std::size_t turns_since_tick = 0;
  std::uint64_t round = 1;
  std::size_t num_waiting = 0;
  unsigned leaps = 0;
  std::string stall;      // the message about it
  bool given_up = false;  // waits throw, so that bodies end
};

}  // namespace cairn::task
