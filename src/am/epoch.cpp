// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <cairn/am/epoch.hpp>
#include <cairn/base/contract.hpp>
#include <cairn/core/progress.hpp>

namespace cairn::am {
namespace {

constexpr std::size_t num_counts = 3;

message_counts counts_of(std::span<const std::uint64_t> wave) {
  return {.sent = wave[0], .handled = wave[1], .leading = wave[2]};
}
std::array<std::uint64_t, num_counts> words_of(const message_counts& c) {
  return {c.sent, c.handled, c.leading};
}

message_counts here(world& w) {
  const auto counted = w.messages().epoch_totals();
  return {counted.sent, counted.handled, counted.leading};
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
      for (auto n = task::pool::longest_busy; n > 0; --n) {
        if (w.messages().interrupted() || !w.pool().poll_sources(k)) break;
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
  if (w.size() > 1) wave_.resize(num_counts);
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
void epoch::drive_waves(worker_t k, body state, const write_words& mine) {
  const std::unique_lock held(driving_, std::try_to_lock);
  if (!held || ended_.load(std::memory_order_relaxed)) return;
  if (wave_is_running_) {
    const auto sum = world_.messages().protocols().try_take_reduced(k);
    if (!sum) return;
    wave_is_running_ = false;
    CAIRN_EXPECTS(sum->size() == wave_.size() * sizeof wave_[0],
                  "the ranks close different epochs");
    std::memcpy(wave_.data(), sum->data(), sum->size());
    const auto counted = counts_of(wave_);
    world_.messages().record_wave({.sent = counted.sent, .handled = counted.handled});
    world_.trace().note(k, obs::trace_kind::wave, {},
                        {.amount = counted.sent,
                         .count = static_cast<std::uint32_t>(counted.sent - counted.handled)});
    if (ledger_.finished_after(counted)) {
      // If the end was declared too early, then some rank has sent since it joined the wave.
      CAIRN_EXPECTS(counted.leading != 0 || here(world_).sent == sent_here_,
                    "a handler sent a message, but its channel or operator has sends = false");
      ended_.store(true, std::memory_order_release);
      return;
    }
  }
  begin_wave(k, state, mine);
}

void epoch::begin_wave(worker_t k, body state, const write_words& mine) {
  world_.counters().add(k, obs::counter::waves);
  auto counted = here(world_);
  if (state == body::may_send) counted.leading = 1;
  sent_here_ = counted.sent;
  std::ranges::copy(words_of(counted), wave_.begin());
  // After `handled`: once all messages count as handled, the words contain all their effects.
  if (mine) mine(std::span(wave_).subspan(num_counts));
  world_.messages().protocols().begin_reduce(k, std::as_bytes(std::span(wave_)), add_words);
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
    drive_waves(k, body::may_send, {});
  } else if (messages.interrupted()) {
    throw cancelled();
  } else if (idle && all_handled_here(world_)) {
    ended_.store(true, std::memory_order_release);
  }
  world_.pool().switch_point();
  return ended_.load(std::memory_order_acquire);
}

void epoch::close_with(std::span<std::uint64_t> sums, const write_words& mine) {
  obs::trace_span wait(world_.trace(), main_worker, obs::trace_kind::wait);
  if (wait) wait->set_text("wait for end of epoch");
  if (world_.size() > 1) wave_.resize(num_counts + sums.size());
  world_.messages().stoppable([&] {
    if (world_.size() == 1) return finish_alone(world_);
    const world::call_guard in_call(world_);
    world_.pool().work_until(
        [&] {
          drive_waves(main_worker, body::has_ended, mine);
          return ended_.load(std::memory_order_relaxed);
        },
        [this] { return world_.messages().interrupted(); });
  });
  open_ = false;
  world_.messages().close_epoch();
  if (world_.size() == 1) {
    if (mine) mine(sums);
  } else {
    std::ranges::copy(std::span(wave_).subspan(num_counts), sums.begin());
  }
  wait.end();
  span_.end();
}

void finish_standing(world& w, receiver& r) noexcept {
  obs::trace_span wait(w.trace(), main_worker, obs::trace_kind::wait);
  if (wait) wait->set_text("wait for last answers");
  try {
    if (w.poisoned()) return;
    ledger ledger;
    for (unsigned rounds = 0;; ++rounds) {
      for (auto n = task::pool::longest_busy; n > 0; --n) {
        if (w.messages().interrupted() || !w.pool().poll_sources(main_worker)) break;
      }
      message_counts mine{.leading = 1};  // handlers of other channels may send, too
      for (worker_t k{0}; k < w.handling_threads(); ++k) mine.handled += r.count(k).handled();
      for (worker_t k{0}; k < w.handling_threads(); ++k) mine.sent += r.count(k).sent();
      // Calls the protocol instead of world: a cancel request stays for the next call, which may
      // throw.
      auto& protocols = w.messages().protocols();
      const auto words = words_of(mine);
      const auto sums = protocols.reduce(std::as_bytes(std::span(words)), add_words);
      std::array<std::uint64_t, num_counts> all;
      std::memcpy(all.data(), sums.data(), sizeof all);
      if (ledger.finished_after(counts_of(all))) break;
      if (w.size() > 1) continue;  // has waited for the others
      w.pool().relax(rounds);
      w.pool().throw_if_stalled();
    }
  } catch (...) {  // the world is poisoned or cancelled: messages in flight are discarded
  }
}

}  // namespace cairn::am
