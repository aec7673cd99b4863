// SPDX-License-Identifier: Apache-2.0
//
// Turns of fibers with their own times. The fiber with the least time runs next, so no fiber can
// still act at an earlier time.

#include <algorithm>

#include "task/fiber_state.hpp"

namespace cairn::task {
namespace {

// A waiting fiber wakes by itself after 100 ns, 200 ns, ... max_nap_ns: it may wait for a time.
constexpr std::uint64_t first_nap_ns = 100;
constexpr unsigned max_doublings = 40;  // beyond any max_nap_ns

}  // namespace

void fiber_scheduler::state::charge() { options.times->charge(current->pool, current->worker); }

void fiber_scheduler::state::step_in_time() {
  auto& s = *current;
  charge();
  const bool worked = clock.now_ns() > s.at_ns;
  if (worked) wake_pool(s.pool, clock.now_ns());
  if (worked || ++s.steps > max_steps_between_waits) mark_active(s);
  resume_at(clock.now_ns());
}

void fiber_scheduler::state::wait_in_time(unsigned idle_rounds) {
  auto& s = *current;
  charge();
  s.steps = 0;
  if (idle_rounds == 0 || clock.now_ns() > s.at_ns) {
    mark_active(s);
    wake_pool(s.pool, clock.now_ns());
    resume_at(clock.now_ns());
    return;
  }
  mark_waiting(s);  // may advance the clock
  const auto now = clock.now_ns();
  auto until = now + std::min(first_nap_ns << std::min(idle_rounds - 1, max_doublings),
                              options.times->max_nap_ns);
  if (const auto due = options.times->next_due_ns(s.pool, now)) until = std::min(until, *due);
  resume_at(until);
}

// Suspends the running fiber until `time_ns`, if another fiber resumes earlier.
void fiber_scheduler::state::resume_at(std::uint64_t time_ns) {
  auto& s = *current;
  s.slept_ns = clock.now_ns();
  if (timetable.empty() || (*timetable.begin())->at_ns > time_ns) {
    s.at_ns = time_ns;
    clock.set(time_ns);
    return;
  }
  sleep_until(s, time_ns);
  switch_to(pick());
}

fiber_record& fiber_scheduler::state::pick_in_time() {
  auto& next = **timetable.begin();
  wake(next);
  clock.set(next.at_ns);
  note(next);
  return next;
}

void fiber_scheduler::state::sleep_until(fiber_record& s, std::uint64_t time_ns) {
  wake(s);
  s.at_ns = time_ns;
  s.tie = random();
  s.sleeps = true;
  timetable.insert(&s);
}

void fiber_scheduler::state::wake(fiber_record& s) {
  if (s.sleeps) timetable.erase(&s);
  s.sleeps = false;
}

// Wakes the sleeping fibers of the pool at `time_ns`, or when they fell asleep if that is later.
void fiber_scheduler::state::wake_pool(std::size_t pool, std::uint64_t time_ns) {
  if (!options.times || pool >= by_pool.size()) return;
  for (auto* const s : by_pool[pool]) {
    if (!s->sleeps || s->at_ns <= time_ns) continue;
    const auto at = std::max(s->slept_ns, time_ns);
    if (at < s->at_ns) sleep_until(*s, at);
  }
}

bool fiber_scheduler::state::something_comes() const {
  return std::any_of(runnable.begin(), runnable.end(), [&](const fiber_record* s) {
    const auto looked_ns = s->sleeps ? s->slept_ns : clock.now_ns();
    return options.times->next_due_ns(s->pool, looked_ns).has_value();
  });
}

}  // namespace cairn::task
