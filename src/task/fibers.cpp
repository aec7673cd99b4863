// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/task/fibers.hpp>

#include "task/fiber.hpp"

namespace cairn::task {
namespace {

// A fiber that found nothing to do so often in a row counts as waiting: the second time,
// because what it waits for may have happened after the first.
constexpr unsigned looks = 2;
// A fiber that passes more steps than these between two waits is at work.
constexpr unsigned steps_of_a_look = 4;
// When all wait and nothing is due, time leaps ahead: not at all at first, because a send that
// found no room is tried again, then 1 ms, 2 ms, ... 2^19 ms.
constexpr unsigned standing_leaps = 4, most_leaps = standing_leaps + 20;
constexpr std::uint64_t first_leap_ns = 1'000'000;
// One turn in so many begins a burst: the same fiber passes its next steps, up to so many.
constexpr std::uint64_t burst_one_in = 32, longest_burst = 64;

constexpr std::size_t most_named_in_a_stall = 8;

}  // namespace

/// A fiber and the work that it has been given; without work it is spare.
struct strand {
  strand() = default;
  strand(fiber_scheduler::state& s, std::size_t stack_bytes, void (*main)(void*))
      : context(stack_bytes, main, this), scheduler(&s) {}

  fiber context;
  fiber_scheduler::state* scheduler = nullptr;
  std::size_t pool = 0;  // the number of its pool
  worker_t worker = 0;
  std::function<void()> work;
  std::size_t place = 0;  // in the list of the runnable
  // Whether it waits, as seen since that round of looking began.
  std::uint64_t round = 0;
  unsigned idle_looks = 0, steps = 0;
};

struct fiber_scheduler::state {
  state(random64& r, hw::virtual_clock& c, fiber_options&& o)
      : random(r), clock(c), options(std::move(o)) {}

  void begin(std::size_t pool, worker_t worker, std::function<void()> work);
  static void strand_main(void* argument);
  void end(strand& s);
  void enlist(strand& s);
  void strike(strand& s);

  void step();
  void wait(unsigned idle_rounds);
  strand& pick();
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

  strand runner;  // the stack of the thread
  bool runner_is_enlisted = false;
  strand* current = &runner;
  std::vector<std::unique_ptr<strand>> strands;
  std::vector<strand*> spare, runnable;
  std::size_t pools = 0, bodies = 0;
  std::exception_ptr first_error;

  std::uint64_t turns = 0, fingerprint = 0, burst = 0;
  std::size_t turns_since_tick = 0;
  std::uint64_t round = 1;
  std::size_t num_waiting = 0;
  unsigned leaps = 0;
  std::string stall;      // what was said about it
  bool given_up = false;  // bodies are made to leave by an exception
};

// Work ---------------------------------------------------------------------------------------

void fiber_scheduler::state::begin(std::size_t pool, worker_t worker, std::function<void()> work) {
  if (spare.empty()) {
    strands.push_back(std::make_unique<strand>(*this, options.stack_bytes, &state::strand_main));
    spare.push_back(strands.back().get());
  }
  auto& s = *spare.back();
  spare.pop_back();
  s.pool = pool;
  s.worker = worker;
  s.work = std::move(work);
  s.round = 0;
  s.steps = 0;
  leaps = 0;
  enlist(s);
}

// Never returns: a spare strand stands in end() until it is given work again.
void fiber_scheduler::state::strand_main(void* argument) {
  auto& s = *static_cast<strand*>(argument);
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

void fiber_scheduler::state::end(strand& s) {
  seen_at_work(s);
  strike(s);
  spare.push_back(&s);
  burst = 0;
  switch_to(bodies == 0 && !runner_is_enlisted ? runner : pick());
}

void fiber_scheduler::state::enlist(strand& s) {
  s.place = runnable.size();
  runnable.push_back(&s);
}

void fiber_scheduler::state::strike(strand& s) {
  runnable.back()->place = s.place;
  runnable[s.place] = runnable.back();
  runnable.pop_back();
}

// Turns --------------------------------------------------------------------------------------

void fiber_scheduler::state::step() {
  auto& s = *current;
  if (&s == &runner && !runner_is_enlisted) return;
  if (++s.steps > steps_of_a_look) seen_at_work(s);
  if (burst > 0) {
    --burst;
  } else {
    switch_to(pick());
  }
}

void fiber_scheduler::state::wait(unsigned idle_rounds) {
  auto& s = *current;
  if (&s == &runner) return;
  s.steps = 0;
  if (idle_rounds == 0) {
    seen_at_work(s);
  } else {
    seen_waiting(s);
  }
  burst = 0;
  switch_to(pick());
}

strand& fiber_scheduler::state::pick() {
  ++turns;
  if (++turns_since_tick >= runnable.size()) {
    turns_since_tick = 0;
    clock.advance(options.round_ns);
  }
  if (random.below(burst_one_in) == 0) burst = random.below(longest_burst);
  auto& next = *runnable[random.below(runnable.size())];
  const auto who = next.pool << 32 | static_cast<std::uint32_t>(next.worker);
  fingerprint = mix64(fingerprint ^ mix64(who) ^ clock.now_ns());
  return next;
}

void fiber_scheduler::state::switch_to(strand& next) {
  if (&next == current) return;
  auto& self = *current;
  current = &next;
  self.context.switch_to(next.context);
}

// Who waits ----------------------------------------------------------------------------------
//
// A round of looking ends when each runnable fiber has said `looks` times since it began that
// it has nothing to do. A fiber that computes says nothing, so no round ends while one does.

void fiber_scheduler::state::seen_waiting(strand& s) {
  if (s.round != round) {
    s.round = round;
    s.idle_looks = 0;
  }
  if (s.idle_looks < looks && ++s.idle_looks == looks) ++num_waiting;
  if (num_waiting == runnable.size()) all_wait();
}

void fiber_scheduler::state::seen_at_work(strand& s) {
  if (s.round == round && s.idle_looks == looks) --num_waiting;
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
  } else if (leaps < most_leaps) {
    if (leaps >= standing_leaps) clock.advance(first_leap_ns << (leaps - standing_leaps));
    ++leaps;
  } else {
    leaps = 0;
    declare_stall();
  }
}

void fiber_scheduler::state::declare_stall() {
  if (stall.empty()) {
    stall = who_waits();
    keep_first_error(std::make_exception_ptr(system_failure(stall)));
    if (options.on_stall) {
      options.on_stall(stall);
      return;
    }
  }
  given_up = true;
}

std::string fiber_scheduler::state::who_waits() const {
  auto waiting = runnable;
  std::sort(waiting.begin(), waiting.end(), [](const strand* a, const strand* b) {
    return std::pair(a->pool, a->worker) < std::pair(b->pool, b->worker);
  });
  std::string text = "simulated cluster stalled: nothing is on its way, and ";
  for (std::size_t i = 0; i < waiting.size() && i < most_named_in_a_stall; ++i) {
    if (i > 0) text += ", ";
    text += "rank " + std::to_string(waiting[i]->pool) + " worker " +
            std::to_string(waiting[i]->worker);
  }
  if (waiting.size() > most_named_in_a_stall) {
    text += " and " + std::to_string(waiting.size() - most_named_in_a_stall) + " more";
  }
  return text + (waiting.size() == 1 ? " waits" : " wait");
}

// The pool -----------------------------------------------------------------------------------

class fiber_pool final : public pool {
 public:
  fiber_pool(fiber_scheduler::state& scheduler, int workers)
      : pool(workers),
        scheduler_(scheduler),
        number_(scheduler.pools++),
        workers_(static_cast<std::size_t>(workers)) {}

  // Workers that are attentive still must leave before what they stand on goes away.
  ~fiber_pool() override {
    attentive_ = false;
    const bool from_outside = num_at_work_ > 0 && scheduler_.current == &scheduler_.runner;
    if (from_outside) {
      scheduler_.enlist(scheduler_.runner);
      scheduler_.runner_is_enlisted = true;
    }
    while (num_at_work_ > 0) scheduler_.step();
    if (from_outside) {
      scheduler_.runner_is_enlisted = false;
      scheduler_.strike(scheduler_.runner);
    }
  }

  worker_t here() const noexcept override { return scheduler_.current->worker; }

  void run(const job& f) override {
    CAIRN_EXPECTS(here() == 0);
    CAIRN_EXPECTS(workers() == 1 || scheduler_.current != &scheduler_.runner,
                  "only the body of a simulated rank gives jobs to other workers");
    job_ = &f;
    ++job_number_;
    unfinished_ = workers() - 1;
    for (worker_t w = 1; w < workers(); ++w) wake(w);
    step();
    run_guarded(0);
    while (unfinished_ > 0) {
      // Nothing may leave while workers use f, which belongs to the caller.
      try {
        wait_until([&] { return unfinished_ == 0; });
      } catch (...) {
        keep_first_error();
      }
      step();  // the hook may have thrown at once
    }
    if (first_error_) std::rethrow_exception(std::exchange(first_error_, nullptr));
  }

  void relax(unsigned idle_rounds) noexcept override { scheduler_.wait(idle_rounds); }
  void step() noexcept override { scheduler_.step(); }

  void throw_if_stalled() override {
    CAIRN_EXPECTS(scheduler_.current != &scheduler_.runner,
                  "only the body of a simulated rank may wait");
    if (scheduler_.given_up) throw system_failure(scheduler_.stall);
  }

  void set_attentive(bool on) override {
    attentive_ = on;
    if (!on) return;
    for (worker_t w = 1; w < workers(); ++w) wake(w);
  }

  [[nodiscard]] const fiber_scheduler::state& scheduler() const noexcept { return scheduler_; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }

 private:
  struct worker_state {
    bool at_work = false;
    std::uint64_t jobs_seen = 0;
  };

  // A worker that is idle and not attentive has no fiber at all.
  void wake(worker_t w) {
    auto& me = workers_[static_cast<std::size_t>(w)];
    if (std::exchange(me.at_work, true)) return;
    ++num_at_work_;
    scheduler_.begin(number_, w, [this, w, &me] {
      std::exception_ptr error;
      try {
        loop(w, me);
      } catch (...) {
        error = std::current_exception();
      }
      me.at_work = false;
      --num_at_work_;
      if (error) std::rethrow_exception(error);
    });
  }

  void loop(worker_t w, worker_state& me) {
    for (unsigned idle_rounds = 0;;) {
      if (me.jobs_seen != job_number_) {
        me.jobs_seen = job_number_;
        run_guarded(w);
        --unfinished_;
        idle_rounds = 0;
      } else if (!attentive_ || scheduler_.given_up) {
        return;
      } else if (idle(w)) {
        idle_rounds = 0;
        step();
      } else {
        relax(idle_rounds++);
      }
    }
  }

  void run_guarded(worker_t w) {
    try {
      (*job_)(w);
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
  bool attentive_ = false;
  const job* job_ = nullptr;
  std::uint64_t job_number_ = 0;
  int unfinished_ = 0;
  std::exception_ptr first_error_;
};

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
  ++state_->bodies;
  state_->begin(own->number(), 0, [s = state_.get(), body = std::move(body)] {
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
  CAIRN_EXPECTS(s.current == &s.runner, "a simulated cluster is run from outside");
  if (s.bodies > 0) s.switch_to(s.pick());
  s.given_up = false;
  s.stall.clear();
  if (s.first_error) std::rethrow_exception(std::exchange(s.first_error, nullptr));
}

std::uint64_t fiber_scheduler::turns() const noexcept { return state_->turns; }
std::uint64_t fiber_scheduler::fingerprint() const noexcept { return state_->fingerprint; }

}  // namespace cairn::task
