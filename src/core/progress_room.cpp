// SPDX-License-Identifier: Apache-2.0
// Part of progress_engine: counts the bytes of messages that a rank holds, and waits for room.
#include <algorithm>

#include <cairn/core/progress.hpp>

namespace cairn {

std::size_t progress_engine::unsent_bytes() const noexcept {
  return outbox_.waiting_bytes() + (server_ ? server_->waiting_bytes() : 0);
}

std::size_t progress_engine::held_bytes() const noexcept {
  auto held = static_cast<std::int64_t>(inbox_.bytes());
  for (worker_t k{0}; k < threads_; ++k) {
    held += workers_[k].held_bytes.load(std::memory_order_relaxed);
  }
  return static_cast<std::size_t>(std::max<std::int64_t>(held, 0)) + unsent_bytes();
}

// A wait drains the outbox, so a quarter of the bound is reserved for the outbox. With several
// ranks a wait also drains buffers that only other workers may handle: those workers handle them
// when their chunk ends or while they have no work. On one rank, workers without work do not poll.
bool progress_engine::lacks_room(worker_t k) const noexcept {
  if (num_worker_channels_ != 0 && size_ > 1 && inbox_.bytes_of_others(k) > memory_bound_)
    return true;
  if (server_ && server_->full(k)) return true;
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
  for (worker_t k{pool_.workers()}; all_wait && k < sender_; ++k) all_wait = waits_for_room(k);
  return helper_room::receives_above_bound(all_wait);
}

void progress_engine::wait_for_room(worker_t k) {
  if (!lacks_room(k)) [[likely]]
    return;
  obs::trace_span span(trace_, k, obs::trace_kind::wait);
  if (span) span->set_text("wait for room");
  for (unsigned rounds = 0; lacks_room(k) && !control_.poisoned() && !control_.stopping();) {
    const bool moved = poll_transport(k);
    if (run_one(k) || moved) {
      rounds = 0;
    } else {
      pool_.relax(rounds++);
      pool_.throw_if_stalled();
    }
  }
}

}  // namespace cairn
