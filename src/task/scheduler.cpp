// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <limits>

#include <cairn/base/contract.hpp>
#include <cairn/hw/clock.hpp>
#include <cairn/task/scheduler.hpp>
#include <cairn/task/waiting_tasks.hpp>

namespace cairn::task {
namespace {

constexpr std::size_t batch = 1024;  // resumptions between two looks at the network
// How many tasks resume each other without the loop, at most: it bounds the stack where the
// compiler makes no tail calls.
constexpr std::size_t longest_chain = 128;
// One of 64 resumptions starts a new task, because ready tasks may wait for it. While tasks wait
// for cache lines, one of 16,384 does: more tasks at once would evict each other's lines.
constexpr std::uint64_t start_interval = 64, start_interval_of_fetching = 16'384;

class host_of_a_pool final : public scheduler_host {
} no_host;

}  // namespace

// Frames and the running task ------------------------------------------------------------------

void* promise_base::operator new(std::size_t bytes) {
  auto* const c = current_context;
  return c != nullptr ? c->frames.allocate(bytes) : frame_pool::allocate_without_pool(bytes);
}
void promise_base::operator delete(void* frame, std::size_t bytes) noexcept {
  auto* const c = current_context;
  frame_pool::release(frame, bytes, c != nullptr ? &c->frames : nullptr);
}

void destroy_awaited(promise_base& by) noexcept {
  auto* t = &by;
  while (t->awaits) t = t->next;
  while (t != &by) {
    auto* const waiter = t->waiter.load(std::memory_order_relaxed);
    frame_pool::hold(t->self.address());
    t->self.destroy();
    waiter->awaits = false;
    t = waiter;
  }
}

bool inside_task() noexcept { return current_context != nullptr && current_context->running; }
void expect_no_task() { CAIRN_EXPECTS(!inside_task(), "a task must not block: use co_await"); }

// The scheduler --------------------------------------------------------------------------------

scheduler::scheduler(pool& p, const scheduler_options& opt)
    : pool_(p), host_(opt.host != nullptr ? *opt.host : no_host), drawn_(p.draws()) {
  const auto threads = std::max(opt.threads, p.workers());
  for (worker_t k{0}; k < threads; ++k) {
    auto& c = *contexts_.emplace_back(std::make_unique<worker_context>());
    c.owner = this;
    c.worker = k;
    c.probes = !p.simulated();
    c.tunes = opt.in_flight == 0 && !p.simulated() && !drawn_;
    if (opt.in_flight != 0) c.in_flight = opt.in_flight;
  }
  pool_.add_source(*this, pool::order::first);
}

scheduler::~scheduler() {
  pool_.remove_source(*this);
  destroy_all();
}

bool scheduler::run_to_end(promise_base& root, const std::function<void()>& destroy) {
  expect_no_task();
  CAIRN_EXPECTS(root.at == promise_base::phase::created, "a task is started once");
  std::atomic<bool> ended = false;
  root.on_finish = [](promise_base& t) noexcept {
    static_cast<std::atomic<bool>*>(t.finish_data)->store(true, std::memory_order_release);
  };
  root.finish_data = &ended;
  auto& c = context(main_worker);
  c.ready.reserve(1);
  pool_.begin_polling();                     // may throw
  root.at = promise_base::phase::suspended;  // it stays on this worker
  root.context = &c;
  c.ready.push_back(&root);
  const auto done = [&] { return ended.load(std::memory_order_acquire); };
  const auto destroy_with_root = [&] {
    destroy_all([&] {
      destroy_awaited(root);
      destroy();
    });
  };
  try {
    pool_.wait_until([&] { return done() || host_.interrupted(); });
  } catch (...) {
    pool_.end_polling();
    destroy_with_root();
    throw;
  }
  pool_.end_polling();
  if (done()) return true;
  destroy_with_root();
  return false;
}

// Running tasks --------------------------------------------------------------------------------

bool scheduler::poll(worker_t k) noexcept {
  auto& c = context(k);
  if (k >= pool_.workers() || host_.interrupted()) return false;
  try {
    take_mail(c);
    if (arrivals_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      take_arrivals(c);
    if (c.ready.empty() && c.active.empty() && c.created.empty()) {
      if (contexts_.size() > 1) {
        c.asked_by.store(0, std::memory_order_relaxed);  // a worker without tasks asks again
        ask(c);
      }
      return false;
    }
    {
      const context_scope scope(&c);
      if (c.tunes && !c.active.empty()) {
        run_measured_batch(c);
      } else {
        run_batch(c);
      }
    }
    host_.resumed_tasks(k);
    if (c.asked_by.load(std::memory_order_relaxed) != 0) give(c);
    if (!c.ready.empty() || !c.active.empty() || !c.created.empty()) host_.between_batches(k);
  } catch (...) {  // out of memory
    host_.failed(std::current_exception());
  }
  return true;
}

// A batch counts if most of its resumptions were of tasks that waited for cache lines. A number
// that the tasks in flight do not reach is not chosen.
void scheduler::run_measured_batch(worker_context& c) {
  const hw::steady_clock clock;
  const bool wanted = c.tuner.wants_cost();
  const auto resumed = c.resumed;
  const auto start = wanted ? clock.now_ns() : 0;
  run_batch(c);
  const auto n = c.resumed - resumed;
  if (n < batch / 2) return;
  auto cost = std::numeric_limits<double>::infinity();
  if (c.active.size() >= c.in_flight) {
    cost = wanted ? static_cast<double>(clock.now_ns() - start) / static_cast<double>(n) : 0;
  }
  c.tuner.took(cost);
  c.in_flight = c.tuner.number();
  if (wanted && !c.tuner.wants_cost()) host_.chose_in_flight(c.worker, c.in_flight);
  while (c.active.size() > c.in_flight) c.ready.push_back(c.active.pop_front());
}

void scheduler::run_batch(worker_context& c) {
  // Tasks that wait for cache lines must not keep the others waiting.
  if (!c.ready.empty()) {
    while (!c.active.empty()) c.ready.push_back(c.active.pop_front());
  }
  for (c.budget = batch; c.budget > 0; --c.budget) {
    // The first case is one of the others, where a switch must be fast.
    const bool only_ready = c.created.empty() && c.active.empty() && !c.ready.empty();
    auto* const t = only_ready ? take_ready(c) : next_of(c);
    if (t == nullptr) return;
    resume(c, *t);
    if (drawn_) {
      pool_.switch_point();
      if (host_.interrupted()) return;
    }
  }
}

promise_base* scheduler::next_of(worker_context& c) {
  // Tasks may wait for one that has not started.
  const bool fetching = c.ready.empty() && !c.active.empty();
  const auto due = c.next_start + (fetching ? start_interval_of_fetching - start_interval : 0);
  if (c.resumed >= due && !c.created.empty()) {
    c.next_start = (c.resumed / start_interval + 1) * start_interval;
    return start_one(c);
  }
  if (c.active.size() >= c.in_flight) return take(c.active);
  if (!c.ready.empty()) return take_ready(c);
  if (!c.created.empty()) return start_one(c);
  return c.active.empty() ? nullptr : take(c.active);
}

promise_base* scheduler::start_one(worker_context& c) {
  auto* const t = c.created.pop_back();
  c.num_created.store(c.created.size(), std::memory_order_relaxed);
  t->at = promise_base::phase::suspended;
  return t;
}

promise_base* scheduler::take(ring_queue<promise_base>& from) {
  if (drawn_) from.bring_to_front(pool_.draw(from.size()));
  return from.pop_front();
}

// Prefetches the frame of a later task: if many tasks are ready, it is not in the nearest cache.
// The frame of a task that awaits gets of remote elements has about five lines.
promise_base* scheduler::take_ready(worker_context& c) {
  constexpr std::size_t frames_ahead = 6, frame_lines = 5;
  auto* const t = take(c.ready);
  if (c.ready.size() > frames_ahead) {
    const auto* const upcoming = reinterpret_cast<const std::byte*>(c.ready[frames_ahead]);
    for (std::size_t i = 0; i < frame_lines; ++i) __builtin_prefetch(upcoming + i * cache_line);
  }
  return t;
}

void scheduler::resume(worker_context& c, promise_base& t) {
  c.chain_limit = c.active.empty() ? 0 : chain_limit(c);
  c.running = true;
  for (auto* next = &t; next != nullptr; next = std::exchange(c.next, nullptr)) {
    ++c.resumed;
    next->self.resume();
  }
  c.running = false;
  if (c.chained == 0) return;
  const auto chained = std::exchange(c.chained, 0);
  c.resumed += chained;
  c.budget -= chained;
  if (!c.cached && c.until_probe > 0) c.until_probe -= static_cast<std::int32_t>(chained);
}

// How often tasks that wait for cache lines resume each other, if no other tasks are due.
std::uint32_t scheduler::chain_limit(const worker_context& c) const noexcept {
  const bool enough = c.active.size() + 1 >= c.in_flight || (c.ready.empty() && c.created.empty());
  if (!enough || pool_.simulated()) return 0;
  return static_cast<std::uint32_t>(std::min<std::size_t>(c.budget - 1, longest_chain));
}

// The end --------------------------------------------------------------------------------------

void scheduler::forget_queues() noexcept {
  arrivals_.store(nullptr, std::memory_order_relaxed);
  for (auto& c : contexts_) {
    c->ready.clear();
    c->active.clear();
    c->created.clear();
    c->num_created.store(0, std::memory_order_relaxed);
    c->mail.store(nullptr, std::memory_order_relaxed);
    c->asked_by.store(0, std::memory_order_relaxed);
    c->next = nullptr;
    c->depth = 0;
  }
}

void scheduler::destroy_all(const std::function<void()>& others) noexcept {
  pool_.while_not_polling([&] {
    destroying_ = true;
    host_.before_destroying_tasks();
    forget_queues();
    const context_scope scope(contexts_[0].get());
    for (auto& c : contexts_) {
      c->frames.for_each_root([](void* root) {
        auto& t = *static_cast<promise_base*>(root);
        destroy_awaited(t);
        t.self.destroy();
      });
    }
    if (others) others();
    generation_.fetch_add(1, std::memory_order_release);
    destroying_ = false;
  });
}

std::uint64_t scheduler::num_live() const noexcept {
  std::uint64_t n = 0;
  for (const auto& c : contexts_) n += c->frames.live();
  return n;
}

std::size_t scheduler::frame_bytes() const noexcept {
  std::size_t n = 0;
  for (const auto& c : contexts_) n += c->frames.bytes();
  return n;
}

std::uint64_t scheduler::num_resumed() const noexcept {
  std::uint64_t n = 0;
  for (const auto& c : contexts_) n += c->resumed;
  return n;
}

}  // namespace cairn::task
