// SPDX-License-Identifier: Apache-2.0
// The threads beside the workers (progress_style.hpp).
#include <cstdint>
#include <utility>

#include <cairn/base/error.hpp>
#include <cairn/core/progress.hpp>

namespace cairn {
namespace {

// Buffers that one look handles: others may arrive meanwhile, without end.
constexpr int most_in_a_look = 64;

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

// Epochs' handlers remain with the workers: on a rank with one worker nothing else may change
// elements. Nobody else can take in answers to what these handlers asked, nor send what they sent.
task::look progress_engine::serve(worker_t me) noexcept {
  try {
    if (must_rest()) {
      if (pool_.take_in(me)) flush(me, flush_scope::all);
      return task::look::rest;
    }
    bool moved = poll(me);
    moved |= me != sender_ && handle_standing(me);
    moved |= pool_.take_in(me);
    auto& owes = workers_[me].owes_answers;
    owes |= moved && me != sender_;
    if (owes && !waits_for_room(me)) {
      flush(me, flush_scope::all);
      owes = false;
    }
    return moved ? task::look::worked : task::look::nothing;
  } catch (...) {  // out of memory
    control_.poison(rank_, text_of_exception());
    return task::look::nothing;
  }
}

bool progress_engine::handle_standing(worker_t me) {
  for (int n = 0; n < most_in_a_look; ++n) {
    // Workers that wait handle them too, but not beside helpers.
    if (control_.stopping() && !server_) return n > 0;
    auto b = waits_for_room(me) ? inbox_.take_silent() : inbox_.take_standing();
    if (!b) return n > 0;
    deliver(me, std::move(*b));
    if (!waits_for_room(me)) flush_old(me);
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

// The caller holds the network lock, so the server has not begun another look.
bool progress_engine::all_left() {
  if (server_) return unsent_bytes() == 0 && drained_.load(std::memory_order_relaxed);
  return outbox_.empty();
}

}  // namespace cairn
