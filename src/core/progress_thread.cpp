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
  for (worker_t w{0}; w < pool_.workers(); ++w) {
    polls += workers_[w].polls.load(std::memory_order_relaxed);
  }
  return polls;
}

bool progress_engine::must_rest() noexcept {
  if (style_ != progress_style::automatic) return false;
  const auto polls = polls_of_workers();
  return std::exchange(polls_seen_, polls) != polls;
}

// The workers run the handlers of epochs: on a rank with one worker no other thread may change
// elements. Only this thread receives the answers to the questions of its handlers, and only this
// thread sends their messages.
task::poll_result progress_engine::serve(worker_t w) noexcept {
  try {
    if (must_rest()) {
      if (pool_.take_in(w)) flush(w, flush_scope::all);
      return task::poll_result::rest;
    }
    bool moved = poll_transport(w);
    moved |= w != sender_ && handle_standing(w);
    moved |= pool_.take_in(w);
    auto& owes = workers_[w].owes_answers;
    owes |= moved && w != sender_;
    if (owes && !waits_for_room(w)) {
      flush(w, flush_scope::all);
      owes = false;
    }
    return moved ? task::poll_result::worked : task::poll_result::nothing;
  } catch (...) {  // out of memory
    control_.poison(rank_, text_of_exception());
    return task::poll_result::nothing;
  }
}

bool progress_engine::handle_standing(worker_t w) {
  for (int n = 0; n < max_buffers_per_look; ++n) {
    // Waiting workers also handle these buffers, unless there are helpers.
    if (control_.stopping() && !server_) return n > 0;
    auto b = waits_for_room(w) ? inbox_.take_silent() : inbox_.take_standing();
    if (!b) return n > 0;
    deliver(w, std::move(*b));
    if (!waits_for_room(w)) flush_old(w);
  }
  return true;
}

// The communication server -------------------------------------------------------------------

// The caller holds the network lock.
bool progress_engine::send_for_others(worker_t w) {
  const bool sent = server_->send(w, outbox_, counters_, clock_.now_ns());
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
