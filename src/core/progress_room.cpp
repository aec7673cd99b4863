// SPDX-License-Identifier: Apache-2.0
// Part of progress_engine: counts the bytes of messages that a rank holds, and waits for room.
#include <algorithm>

#include <cairn/core/progress.hpp>

namespace cairn {

std::size_t progress_engine::unsent_bytes() const noexcept {
  return outbox_.pending_bytes() + (server_ ? server_->waiting_bytes() : 0);
}

std::size_t progress_engine::held_bytes() const noexcept {
  auto held = static_cast<std::int64_t>(inbox_.bytes());
  for (worker_t w{0}; w < threads_; ++w) {
    held += workers_[w].held_bytes.load(std::memory_order_relaxed);
  }
  return static_cast<std::size_t>(std::max<std::int64_t>(held, 0)) + unsent_bytes();
}

// A wait drains the outbox, so a quarter of the bound is reserved for the outbox. With several
// ranks a wait also drains buffers that only other workers may handle: those workers handle them
// when their chunk ends or while they have no work. On one rank, workers without work do not poll.
bool progress_engine::lacks_room(worker_t w) const noexcept {
  if (num_worker_channels_ != 0 && size_ > 1 && inbox_.bytes_of_others(w) > memory_bound_)
    return true;
  if (server_ && server_->full(w)) return true;
  return unsent_bytes() > memory_bound_ / 4 && held_bytes() > memory_bound_;
}

bool progress_engine::waits_for_room(worker_t helper) const noexcept {
  return server_ && !helper_room::runs_any_handler(server_->full(helper));
}

// Above the memory bound the handlers run first.
bool progress_engine::receives() const noexcept {
  if (inbox_.empty() || held_bytes() <= memory_bound_) [[likely]]
    return true;
  bool all_wait = server_ != nullptr;
  for (worker_t w{pool_.workers()}; all_wait && w < sender_; ++w) all_wait = waits_for_room(w);
  return helper_room::receives_above_bound(all_wait);
}

void progress_engine::wait_for_room(worker_t w) {
  if (!lacks_room(w)) [[likely]]
    return;
  obs::trace_span span(trace_, w, obs::trace_kind::wait);
  if (span) span->set_text("wait for room");
  for (unsigned rounds = 0; lacks_room(w) && !control_.poisoned() && !control_.stopping();) {
    const bool moved = poll_transport(w);
    if (run_one(w) || moved) {
      rounds = 0;
    } else {
      pool_.relax(rounds++);
      pool_.throw_if_stalled();
    }
  }
}

}  // namespace cairn
