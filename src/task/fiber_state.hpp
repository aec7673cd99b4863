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
inline constexpr unsigned steps_of_a_look = 4;

/// A fiber and its assigned work; without work it is spare.
struct strand {
  strand() = default;
  strand(fiber_scheduler::state& s, std::size_t stack_bytes, void (*main)(void*))
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
  std::uint64_t tie = 0;  // order among strands with the same time
  bool sleeps = false;    // it is in the timetable
};

/// Orders strands by the time at which they resume.
struct earlier {
  bool operator()(const strand* a, const strand* b) const noexcept {
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->tie < b->tie;
  }
};

struct fiber_scheduler::state {
  state(random64& r, hw::virtual_clock& c, fiber_options&& o)
      : random(r), clock(c), options(std::move(o)) {}

  void begin(std::size_t pool, worker_t worker, std::function<void()> work);
  static void strand_main(void* argument);
  void end(strand& s);
  void enlist(strand& s);
  void strike(strand& s);

  // timed_turns.cpp: used with `times`.
  void charge();
  void step_in_time();
  void wait_in_time(unsigned idle_rounds);
  void go_on_at(std::uint64_t moment_ns);
  strand& pick_in_time();
  void sleep_until(strand& s, std::uint64_t moment_ns);
  void wake(strand& s);
  void rouse(std::size_t pool, std::uint64_t moment_ns);
  [[nodiscard]] bool something_comes() const;
  void leap(std::uint64_t ns);

  void step();
  void wait(unsigned idle_rounds);
  strand& pick();
  void note(const strand& next);  // updates the fingerprint
  void switch_to(strand& next);

  void seen_waiting(strand& s);
  void seen_at_work(strand& s);
  void all_wait();
  void declare_stall();
  [[nodiscard]] std::string who_waits() const;
  void keep_first_error(std::exception_ptr e) {
    if (!first_error) first_error = std::move(e);
  }

  random64& random;
  hw::virtual_clock& clock;
  fiber_options options;

  strand runner;  // represents the stack of the thread
  bool runner_is_enlisted = false;
  strand* current = &runner;
  std::vector<std::unique_ptr<strand>> strands;
  std::vector<strand*> spare, runnable;
  std::set<strand*, earlier> timetable;       // the sleeping strands
  std::vector<std::vector<strand*>> by_pool;  // the runnable strands
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
