// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/task/fibers.hpp>

#include "task/fiber_pool.hpp"
#include "task/fiber_state.hpp"

namespace cairn::task {
namespace {

// A fiber counts as waiting after this many polls without work in a row. One poll is not enough,
// because the event may have happened after it.
constexpr unsigned looks_until_waiting = 2;
// When all fibers wait and nothing is due, time leaps ahead: not in the first rounds, because a
// send that found no room is retried, then by 1 ms, 2 ms, ... 2^19 ms. With `times` the fibers
// sleep by themselves, so leaps begin much later.
constexpr unsigned rounds_before_leaps = 4, rounds_before_timed_leaps = 1000, max_leaps = 20;
constexpr std::uint64_t first_leap_ns = 1'000'000;
// One turn in burst_one_in begins a burst: the fiber continues for up to longest_burst steps.
constexpr std::uint64_t burst_one_in = 32, longest_burst = 64;

constexpr std::size_t max_named_workers = 8;

}  // namespace

// Work ---------------------------------------------------------------------------------------

void fiber_scheduler::state::prepare(std::size_t n) {
  while (spare.size() < promised + n) {
    spare.reserve(records.size() + 1);
    records.push_back(
        std::make_unique<fiber_record>(*this, options.stack_bytes, &state::fiber_main));
    spare.push_back(records.back().get());
  }
}

void fiber_scheduler::state::begin(std::size_t pool, worker_t worker, std::function<void()> work) {
  CAIRN_ASSERT(!spare.empty());
  auto& s = *spare.back();
  spare.pop_back();
  s.pool = pool;
  s.worker = worker;
  s.work = std::move(work);
  s.round = 0;
  s.steps = 0;
  leaps = 0;
  add_runnable(s);
}

// Never returns: a spare fiber_record is suspended in end() until it gets work again.
void fiber_scheduler::state::fiber_main(void* argument) {
  auto& s = *static_cast<fiber_record*>(argument);
  for (;;) {
    try {
      s.work();
    } catch (...) {
      s.scheduler->keep_first_error(std::current_exception());
    }
    s.work = nullptr;
    s.scheduler->end(s);
  }
}

void fiber_scheduler::state::end(fiber_record& s) {
  if (options.times) {
    charge();
    wake_pool(s.pool, clock.now_ns());
  }
  mark_active(s);
  remove_runnable(s);
  spare.push_back(&s);
  burst = 0;
  switch_to(bodies == 0 && !runner_is_runnable ? runner : pick());
}

void fiber_scheduler::state::add_runnable(fiber_record& s) {
  s.place = runnable.size();
  runnable.push_back(&s);
  if (!options.times) return;
  by_pool.resize(std::max(by_pool.size(), s.pool + 1));
  by_pool[s.pool].push_back(&s);
  if (&s == current) return;
  s.slept_ns = clock.now_ns();
  sleep_until(s, s.slept_ns);
}

void fiber_scheduler::state::remove_runnable(fiber_record& s) {
  runnable.back()->place = s.place;
  runnable[s.place] = runnable.back();
  runnable.pop_back();
  if (!options.times) return;
  std::erase(by_pool[s.pool], &s);
  wake(s);
}

// Turns --------------------------------------------------------------------------------------

void fiber_scheduler::state::switch_point() {
  auto& s = *current;
  if (&s == &runner && !runner_is_runnable) return;
  if (options.times) {
    step_in_time();
    return;
  }
  if (++s.steps > max_steps_between_waits) mark_active(s);
  if (burst > 0) {
    --burst;
  } else {
    switch_to(pick());
  }
}

void fiber_scheduler::state::wait(unsigned idle_rounds) {
  auto& s = *current;
  if (&s == &runner && !runner_is_runnable) return;
  if (options.times) {
    wait_in_time(idle_rounds);
    return;
  }
  s.steps = 0;
  if (idle_rounds == 0) {
    mark_active(s);
  } else {
    mark_waiting(s);
  }
  burst = 0;
  switch_to(pick());
}

fiber_record& fiber_scheduler::state::pick() {
  ++turns;
  if (options.times) return pick_in_time();
  if (++turns_since_tick >= runnable.size()) {
    turns_since_tick = 0;
    clock.advance(options.round_ns);
  }
  if (random.below(burst_one_in) == 0) burst = random.below(longest_burst);
  auto& next = *runnable[random.below(runnable.size())];
  note(next);
  return next;
}

void fiber_scheduler::state::note(const fiber_record& next) {
  const auto who = next.pool << 32 | static_cast<std::uint32_t>(next.worker);
  fingerprint = mix64(fingerprint ^ mix64(who) ^ clock.now_ns());
}

void fiber_scheduler::state::switch_to(fiber_record& next) {
  if (&next == current) return;
  auto& self = *current;
  current = &next;
  self.context.switch_to(next.context);
}

// Detecting that all wait ----------------------------------------------------------------------
//
// A detection round ends when each runnable fiber has reported `looks_until_waiting` times since
// its start that it has nothing to do. A computing fiber reports nothing, so no round ends while
// one computes.

void fiber_scheduler::state::mark_waiting(fiber_record& s) {
  if (s.round != round) {
    s.round = round;
    s.idle_looks = 0;
  }
  if (s.idle_looks < looks_until_waiting && ++s.idle_looks == looks_until_waiting) ++num_waiting;
  if (num_waiting == runnable.size()) all_wait();
}

void fiber_scheduler::state::mark_active(fiber_record& s) {
  if (s.round == round && s.idle_looks == looks_until_waiting) --num_waiting;
  s.idle_looks = 0;
  leaps = 0;
}

void fiber_scheduler::state::all_wait() {
  ++round;
  num_waiting = 0;
  const auto due = options.next_due_ns ? options.next_due_ns() : std::nullopt;
  if (due) {
    leaps = 0;
    clock.advance_to(*due);
  } else if (options.times && something_comes()) {
    leaps = 0;
  } else if (const auto rounds_before =
                 options.times ? rounds_before_timed_leaps : rounds_before_leaps;
             leaps < rounds_before + max_leaps) {
    if (leaps >= rounds_before) leap(first_leap_ns << (leaps - rounds_before));
    ++leaps;
  } else {
    leaps = 0;
    declare_stall();
  }
}

void fiber_scheduler::state::leap(std::uint64_t ns) {
  clock.advance(ns);
  for (auto* const s : runnable) {
    if (s->sleeps) sleep_until(*s, s->at_ns + ns);
  }
}

void fiber_scheduler::state::declare_stall() {
  if (stall.empty()) {
    stall = describe_stall();
    keep_first_error(std::make_exception_ptr(system_failure(stall)));
    if (options.on_stall) {
      options.on_stall(stall);
      return;
    }
  }
  given_up = true;
}

std::string fiber_scheduler::state::describe_stall() const {
  auto waiting = runnable;
  std::sort(waiting.begin(), waiting.end(), [](const fiber_record* a, const fiber_record* b) {
    return std::pair(a->pool, a->worker) < std::pair(b->pool, b->worker);
  });
  std::string text = "simulated cluster stalled: no message is in flight, and ";
  for (std::size_t i = 0; i < waiting.size() && i < max_named_workers; ++i) {
    if (i > 0) text += ", ";
    text += "rank " + std::to_string(waiting[i]->pool) + " worker " +
            std::to_string(waiting[i]->worker);
  }
  if (waiting.size() > max_named_workers) {
    text += " and " + std::to_string(waiting.size() - max_named_workers) + " more";
  }
  return text + (waiting.size() == 1 ? " waits" : " wait");
}

// The scheduler ------------------------------------------------------------------------------

fiber_scheduler::fiber_scheduler(random64& random, hw::virtual_clock& clock, fiber_options options)
    : state_(std::make_unique<state>(random, clock, std::move(options))) {}

fiber_scheduler::~fiber_scheduler() = default;

std::unique_ptr<pool> fiber_scheduler::make_pool(int workers) {
  CAIRN_EXPECTS(workers >= 1);
  return std::make_unique<fiber_pool>(*state_, workers);
}

void fiber_scheduler::start(pool& p, std::function<void()> body) {
  const auto* const own = dynamic_cast<fiber_pool*>(&p);
  CAIRN_EXPECTS(own != nullptr && &own->scheduler() == state_.get());
  state_->prepare(1);
  ++state_->bodies;
  state_->begin(own->number(), main_worker, [s = state_.get(), body = std::move(body)] {
    try {
      body();
    } catch (...) {
      s->keep_first_error(std::current_exception());
    }
    --s->bodies;
  });
}

void fiber_scheduler::run() {
  auto& s = *state_;
  CAIRN_EXPECTS(s.current == &s.runner, "run() must not be called inside a fiber");
  if (s.bodies > 0) s.switch_to(s.pick());
  s.given_up = false;
  s.stall.clear();
  if (s.first_error) std::rethrow_exception(std::exchange(s.first_error, nullptr));
}

void fiber_scheduler::expect(std::size_t rank, std::uint64_t time_ns) {
  CAIRN_EXPECTS(state_->options.times.has_value());
  state_->wake_pool(rank, time_ns);
}

std::uint64_t fiber_scheduler::turns() const noexcept { return state_->turns; }
std::uint64_t fiber_scheduler::fingerprint() const noexcept { return state_->fingerprint; }

}  // namespace cairn::task
