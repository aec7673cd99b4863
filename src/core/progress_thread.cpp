// SPDX-License-Identifier: Apache-2.0
// Part of progress_engine: the threads beside the workers (progress_style.hpp).
#include <cstdint>
#include <utility>

#include <cairn/base/error.hpp>
#include <cairn/core/progress.hpp>

namespace cairn {
namespace {

// The bound on the buffers that one poll handles, because buffers may keep arriving.
constexpr int max_buffers_per_look = 64;

}  // namespace

std::uint64_t progress_engine::polls_of_workers() const noexcept {
  std::uint64_t polls = 0;
  for (worker_t k{0}; k < pool_.workers(); ++k) {
    polls += workers_[k].polls.load(std::memory_order_relaxed);
  }
  return polls;
}

bool progress_engine::must_rest(worker_t k) noexcept {
  if (style_ != progress_style::automatic) return false;
  const bool rested = rest_choice_.rested();
  const bool rests = rest_choice_.rests(polls_of_workers(), clock_.now_ns());
  if (rests != rested) [[unlikely]] {
    trace_.note(k, obs::trace_kind::choice, rests ? "workers poll" : "workers rarely poll");
  }
  return rests;
}

// The workers run the handlers of epochs: on a rank with one worker no other thread may change
// elements. Only this thread receives the answers to the questions of its handlers, and only this
// thread sends their messages.
task::poll_result progress_engine::serve(worker_t k) noexcept {
  try {
    if (must_rest(k)) {
      if (pool_.take_in(k)) flush(k, flush_scope::all);
      return task::poll_result::rest;
    }
    bool moved = poll_transport(k);
    moved |= k != sender_ && handle_standing(k);
    moved |= pool_.take_in(k);
    auto& owes = workers_[k].owes_answers;
    owes |= moved && k != sender_;
    if (owes && !waits_for_room(k)) {
      flush(k, flush_scope::all);
      owes = false;
    }
    return moved ? task::poll_result::worked : task::poll_result::nothing;
  } catch (...) {  // out of memory
    control_.poison(rank_, text_of_exception());
    return task::poll_result::nothing;
  }
}

bool progress_engine::handle_standing(worker_t k) {
  for (int n = 0; n < max_buffers_per_look; ++n) {
    // Waiting workers also handle these buffers, unless there are helpers.
    if (control_.stopping() && !server_) return n > 0;
    auto b = waits_for_room(k) ? inbox_.take_silent() : inbox_.take_standing();
    if (!b) return n > 0;
    deliver(k, std::move(*b));
    if (!waits_for_room(k)) flush_old(k, clock_.now_ns());
  }
  return true;
}

// The communication server -------------------------------------------------------------------

// The caller holds the network lock.
bool progress_engine::send_for_others(worker_t k) {
  const bool waits = drains_.load(std::memory_order_relaxed) || control_.stopping();
  const bool sent = server_->send(k, outbox_, counters_, clock_.now_ns(), waits);
  if (drains_.load(std::memory_order_relaxed)) {
    drained_.store(unsent_bytes() == 0 && outbox_.empty(), std::memory_order_relaxed);
  }
  return sent;
}

// The caller holds the network lock, so the server has not begun another poll.
bool progress_engine::all_sent() {
  if (server_) return unsent_bytes() == 0 && drained_.load(std::memory_order_relaxed);
  return outbox_.empty();
}

}  // namespace cairn
