// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <cairn/am/epoch.hpp>
#include <cairn/core/progress.hpp>

namespace cairn::am {
namespace {

message_counts counts_of(std::span<const std::byte> bytes) {
  message_counts counts;
  std::memcpy(&counts, bytes.data(), sizeof counts);
  return counts;
}

void add_counts(std::span<const std::byte> lower, std::span<const std::byte> higher,
                std::vector<std::byte>& sum) {
  const auto a = counts_of(lower), b = counts_of(higher);
  const message_counts both{a.sent + b.sent, a.handled + b.handled};
  const auto bytes = std::as_bytes(std::span(&both, 1));
  sum.insert(sum.end(), bytes.begin(), bytes.end());
}

message_counts here(world& w) {
  const auto counted = w.messages().epoch_totals();
  return {counted.sent, counted.handled};
}

// With one rank, one reading decides: `handled` is read before `sent`.
bool all_handled_here(world& w) {
  const auto counted = here(w);
  return counted.sent == counted.handled;
}

// With one rank, all messages are in its blocks and its inbox; its workers empty them together.
void finish_alone(world& w) {
  for (unsigned idle_rounds = 0; !all_handled_here(w);) {
    w.throw_if_interrupted();
    std::atomic<bool> worked = false;
    w.run([&](worker_t k) {
      while (!w.messages().interrupted() && w.pool().poll_sources(k)) {
        worked.store(true, std::memory_order_relaxed);
        w.pool().switch_point();
      }
    });
    // Only parked work is left, which waits for a later time.
    if (worked) {
      idle_rounds = 0;
    } else {
      w.pool().relax(idle_rounds++);
      w.pool().throw_if_stalled();
    }
  }
  if (w.messages().interrupted()) w.throw_if_interrupted();
}

}  // namespace

epoch::epoch(world& w) : world_(w), span_(w.trace(), main_worker, obs::trace_kind::epoch) {
  const world::call_guard in_call(w);
  w.messages().open_epoch();
  if (span_) span_->number = static_cast<std::uint32_t>(w.messages().epoch());
  w.counters().add(main_worker, obs::counter::epochs);
}

epoch::~epoch() {
  if (!open_) return;
  if (ended_.load(std::memory_order_acquire)) {
    world_.messages().close_epoch();
  } else {
    world_.messages().leave_epoch();
  }
}

void epoch::hold(worker_t k, std::uint64_t n) noexcept { am::hold(world_, k, n); }
void epoch::release(worker_t k, std::uint64_t n) noexcept { am::release(world_, k, n); }

// The next wave begins after the previous one has ended on this rank, so after every rank has read
// its counts for the previous one.
void epoch::drive_waves(worker_t k) {
  const std::unique_lock held(driving_, std::try_to_lock);
  if (!held || ended_.load(std::memory_order_relaxed)) return;
  auto& protocols = world_.messages().protocols();
  if (wave_is_running_) {
    const auto sum = protocols.try_take_reduced(k);
    if (!sum) return;
    wave_is_running_ = false;
    const auto counted = counts_of(*sum);
    world_.messages().record_wave({.sent = counted.sent, .handled = counted.handled});
    world_.trace().note(k, obs::trace_kind::wave, {},
                        {.amount = counted.sent,
                         .count = static_cast<std::uint32_t>(counted.sent - counted.handled)});
    if (ledger_.finished_after(counted)) {
      ended_.store(true, std::memory_order_release);
      return;
    }
  }
  world_.counters().add(k, obs::counter::waves);
  const auto mine = here(world_);
  protocols.begin_reduce(k, std::as_bytes(std::span(&mine, 1)), add_counts);
  wave_is_running_ = true;
}

bool epoch::try_close(worker_t k, worker_activity state) {
  if (ended_.load(std::memory_order_acquire)) return true;
  const bool idle = state == worker_activity::idle;
  auto& messages = world_.messages();
  messages.send_early();
  messages.make_progress(k, idle);
  if (idle) world_.pool().poll_sources(k);  // runs parked work
  world_.throw_if_poisoned();
  if (world_.size() > 1) {
    drive_waves(k);
  } else if (messages.interrupted()) {
    throw cancelled();
  } else if (idle && all_handled_here(world_)) {
    ended_.store(true, std::memory_order_release);
  }
  world_.pool().switch_point();
  return ended_.load(std::memory_order_acquire);
}

void epoch::close() {
  obs::trace_span wait(world_.trace(), main_worker, obs::trace_kind::wait);
  if (wait) wait->set_text("wait for end of epoch");
  world_.messages().stoppable([this] {
    if (world_.size() == 1) return finish_alone(world_);
    const world::call_guard in_call(world_);
    world_.pool().work_until(
        [this] {
          drive_waves(main_worker);
          return ended_.load(std::memory_order_relaxed);
        },
        [this] { return world_.messages().interrupted(); });
  });
  open_ = false;
  world_.messages().close_epoch();
  wait.end();
  span_.end();
}

void finish_standing(world& w, receiver& r) noexcept {
  obs::trace_span wait(w.trace(), main_worker, obs::trace_kind::wait);
  if (wait) wait->set_text("wait for last answers");
  try {
    if (w.poisoned()) return;
    ledger ledger;
    message_counts sum;
    do {
      while (!w.messages().interrupted() && w.pool().poll_sources(main_worker)) {
      }
      message_counts mine;
      for (worker_t k{0}; k < w.handling_threads(); ++k) mine.handled += r.count(k).handled();
      for (worker_t k{0}; k < w.handling_threads(); ++k) mine.sent += r.count(k).sent();
      // Calls the protocol instead of world: a cancel request stays for the next call, which may
      // throw.
      auto& protocols = w.messages().protocols();
      sum = counts_of(protocols.reduce(std::as_bytes(std::span(&mine, 1)), add_counts));
    } while (!ledger.finished_after(sum));
  } catch (...) {  // the world is poisoned or cancelled: messages in flight are discarded
  }
}

}  // namespace cairn::am
