// SPDX-License-Identifier: Apache-2.0
// Part of scheduler: its queues, and how workers pass each other tasks.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <cairn/task/scheduler.hpp>

namespace cairn::task {

// Queues ---------------------------------------------------------------------------------------

void scheduler::ready(worker_t here, promise_base& t) {
  auto& c = *t.context;
  if (c.worker == here) {
    c.ready.push_back(&t);
  } else {
    post(c.mail, t);
  }
}

bool destroying_tasks() noexcept {
  const auto* const c = current_context;
  return c != nullptr && c->owner->destroying();
}

void wake(promise_base& t) {
  auto& s = *t.context->owner;
  const auto* const c = current_context;
  s.ready(c != nullptr && c->owner == &s ? c->worker : worker_t{-1}, t);
}

void scheduler::start(worker_t here, promise_base& t) {
  if (here < pool_.workers()) return start(here, t, {.worker = here});
  t.context = &context(main_worker);  // until a worker takes it
  post(arrivals_, t);
}

void scheduler::start(worker_t here, promise_base& t, first_taker to) {
  auto& c = context(to.worker);
  t.context = &c;
  if (to.worker != here) return post(c.mail, t);
  c.created.push_back(&t);
  c.num_created.store(c.created.size(), std::memory_order_relaxed);
  if (c.asked_by.load(std::memory_order_relaxed) != 0) [[unlikely]]
    give(c);
}

void scheduler::start_as_root(worker_t here, task<void> t) {
  t.promise().on_finish = [](promise_base& p) noexcept {
    auto& ended = static_cast<detail::promise<void>&>(p);
    if (auto error = ended.error()) p.context->owner->host_.failed(std::move(error));
    p.self.destroy();
  };
  const auto frame = t.release();
  context(here).frames.mark_root(frame.address(), static_cast<promise_base*>(&frame.promise()));
  start(here, frame.promise());
}

void scheduler::post(std::atomic<promise_base*>& list, promise_base& t) noexcept {
  t.next = list.load(std::memory_order_relaxed);
  while (!list.compare_exchange_weak(t.next, &t, std::memory_order_release,
                                     std::memory_order_relaxed)) {
  }
}

// Takes a list and reverses it: first in, first out.
scheduler::taken_list scheduler::take_list(std::atomic<promise_base*>& list) noexcept {
  taken_list taken;
  auto* t = list.exchange(nullptr, std::memory_order_acquire);
  while (t != nullptr) {
    auto* const next = std::exchange(t->next, taken.first);
    taken.first = t;
    t = next;
    ++taken.size;
  }
  return taken;
}

bool scheduler::take_mail(worker_context& c) {
  if (c.mail.load(std::memory_order_relaxed) == nullptr) return false;
  auto* in_order = take_list(c.mail).first;
  while (in_order != nullptr) {
    auto* const next = in_order->next;
    (in_order->at == promise_base::phase::created ? c.created : c.ready).push_back(in_order);
    in_order = next;
  }
  c.num_created.store(c.created.size(), std::memory_order_relaxed);
  return true;
}

// Takes the oldest half of the arrivals, or all if there are no other workers.
void scheduler::take_arrivals(worker_context& c) {
  const auto taken = take_list(arrivals_);
  auto mine = pool_.workers() == 1 ? taken.size : (taken.size + 1) / 2;
  for (auto* t = taken.first; t != nullptr;) {
    auto* const next = t->next;
    if (mine > 0) {
      --mine;
      std::atomic_ref(t->context).store(&c, std::memory_order_relaxed);
      c.created.push_back(t);
    } else {
      post(arrivals_, *t);
    }
    t = next;
  }
  c.num_created.store(c.created.size(), std::memory_order_relaxed);
}

// Balance --------------------------------------------------------------------------------------

// Asks all workers that have a task which has not started. An answer may come after
// this worker has found other tasks; then it has more tasks.
void scheduler::ask(worker_context& c) noexcept {
  const auto mine = static_cast<std::int32_t>(c.worker) + 1;
  for (auto& other : contexts_) {
    if (other.get() == &c || other->num_created.load(std::memory_order_relaxed) == 0) continue;
    std::int32_t none = 0;
    if (other->asked_by.load(std::memory_order_relaxed) == 0) {
      other->asked_by.compare_exchange_strong(none, mine, std::memory_order_relaxed);
    }
  }
}

void scheduler::give(worker_context& c) noexcept {
  const auto by = c.asked_by.exchange(0, std::memory_order_relaxed);
  if (by == 0) return;
  auto& to = context(worker_t{by - 1});
  for (auto n = (c.created.size() + 1) / 2; n > 0; --n) {
    auto& t = *c.created.pop_front();
    std::atomic_ref(t.context).store(&to, std::memory_order_relaxed);  // future::detach() reads it
    post(to.mail, t);
  }
  c.num_created.store(c.created.size(), std::memory_order_relaxed);
}

}  // namespace cairn::task
