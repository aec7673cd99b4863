// SPDX-License-Identifier: Apache-2.0
// Part of progress_engine: opens, closes and abandons epochs, and stops with other ranks.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>

#include <cairn/base/contract.hpp>
#include <cairn/base/error.hpp>
#include <cairn/core/progress.hpp>

namespace cairn {

// Epochs -------------------------------------------------------------------------------------

void progress_engine::expect_nothing_unfinished() {
  if (unfinished_ == nullptr || size_ == 1) return;
  control_.poison(rank_, unfinished_);
  control_.throw_if_poisoned();
}

void progress_engine::open_epoch() {
  CAIRN_EXPECTS(!epoch_open(), "another epoch of this world is still open");
  if (unfinished_ != nullptr) [[unlikely]] {
    expect_nothing_unfinished();
    unfinished_ = nullptr;
  }
  if (size_ > 1) {
    pool_.begin_polling();  // before any change, because it may throw
    leading_before_ = leading_messages();
  }
  epoch_.store(epoch() + 1, std::memory_order_relaxed);
  count_step(main_worker);
  sends_early_.store(false, std::memory_order_relaxed);
  epoch_is_open_.store(true, std::memory_order_release);
  // The last step: other workers then run handlers of the epoch.
  if (size_ == 1) return inbox_.open_epoch_single_rank(epoch());
  try {
    inbox_.open_epoch(epoch());
  } catch (...) {
    leave_epoch();
    throw;
  }
}

void progress_engine::close_epoch() {
  if (!epoch_open()) return;  // a request to cancel has already left it
  inbox_.close_epoch();
  epoch_is_open_.store(false, std::memory_order_relaxed);
  if (size_ > 1) pool_.end_polling();
}

void progress_engine::leave_epoch() noexcept {
  if (!epoch_open()) return;
  unfinished_ = "an epoch was destroyed without close(), and the other ranks wait for it";
  try {
    // Handlers that run now end first.
    pool_.while_not_polling([this] {
      inbox_.close_epoch();
      epoch_is_open_.store(false, std::memory_order_relaxed);
      abandon_epoch();
    });
    if (size_ > 1) pool_.end_polling();
  } catch (...) {
    control_.poison(rank_, text_of_exception());
  }
}

void progress_engine::abandon_epoch() {
  abandoned_epochs_.fetch_add(1, std::memory_order_relaxed);
  inbox_.abandon_up_to(epoch());
  for (const auto& channel : channels_.live()) {
    if (channel.kind == channel_kind::epoch) channel.to->abandon();
  }
  for (auto& h : holds_) h.value.reset();
}

progress_engine::totals progress_engine::epoch_totals() const noexcept {
  totals here;
  const auto each_count = [this](auto&& f) {
    for (worker_t k{0}; k < threads_; ++k) {
      f(holds_[k]);
      for (const auto& channel : channels_.live()) {
        if (channel.kind == channel_kind::epoch) f(channel.to->count(k));
      }
    }
  };
  each_count([&](const message_counter& c) { here.handled += c.handled(); });
  each_count([&](const message_counter& c) { here.sent += c.sent(); });
  if (size_ > 1) here.leading = leading_messages() - leading_before_;
  return here;
}

std::uint64_t progress_engine::leading_messages() const noexcept {
  std::uint64_t leading = 0;
  for (worker_t k{0}; k < threads_; ++k) {
    leading += holds_[k].sent();
    for (const auto& channel : channels_.live()) {
      if (channel.to->sends()) leading += channel.to->count(k).sent();
    }
  }
  return leading;
}

// Progress reports ---------------------------------------------------------------------------

std::uint64_t progress_engine::steps() const noexcept {
  auto all = wave_changes_.load(std::memory_order_relaxed);
  for (worker_t k{0}; k < threads_; ++k) {
    all += workers_[k].steps.load(std::memory_order_relaxed);
  }
  return all;
}

void progress_engine::record_wave(const totals& counted) noexcept {
  const auto last_sent = waves_sent_.exchange(counted.sent, std::memory_order_relaxed);
  const auto last_handled = waves_handled_.exchange(counted.handled, std::memory_order_relaxed);
  const bool same = last_sent == counted.sent && last_handled == counted.handled;
  if (!same) wave_changes_.fetch_add(1, std::memory_order_relaxed);
}

progress_snapshot progress_engine::snapshot() {
  progress_snapshot now;
  now.steps = steps();
  now.epoch = epoch();
  now.epoch_open = epoch_open();
  now.waves_sent = waves_sent_.load(std::memory_order_relaxed);
  now.waves_handled = waves_handled_.load(std::memory_order_relaxed);
  now.inbox_bytes = inbox_.bytes();
  now.outbox_bytes = unsent_bytes();
  now.collective = control_.pending();
  now.stopping = control_.stopping();
  now.poisoned = control_.poisoned();
  // What is released was held before, so the second sum is never the smaller one.
  for (worker_t k{0}; k < threads_; ++k) now.released += holds_[k].handled();
  for (worker_t k{0}; k < threads_; ++k) now.held += holds_[k].sent();
  std::int64_t in_blocks = 0;
  for (worker_t k{0}; k < threads_; ++k) {
    in_blocks += workers_[k].held_bytes.load(std::memory_order_relaxed);
    if (workers_[k].in_handler.load(std::memory_order_relaxed)) now.in_handler.push_back(k);
  }
  now.block_bytes = static_cast<std::size_t>(std::max<std::int64_t>(in_blocks, 0));
  const std::lock_guard held(channels_guard_);
  for (const auto& channel : channels_.live()) {
    auto& counts =
        now.channels.emplace_back(channel.number, channel.kind, std::string(channel.name));
    for (worker_t k{0}; k < threads_; ++k) {
      counts.handled += channel.to->count(k).handled();
      counts.sent += channel.to->count(k).sent();
    }
  }
  return now;
}

std::vector<obs::sent_amount> progress_engine::traffic() {
  const std::lock_guard held(network_lock_);
  return outbox_.traffic().amounts();
}

// Collectives --------------------------------------------------------------------------------

gathered_parts progress_engine::all_gather(std::span<const std::byte> mine) {
  expect_nothing_unfinished();
  count_step(main_worker);
  obs::trace_span span(trace_, main_worker, obs::trace_kind::collective);
  if (span) span->amount = mine.size(), span->set_text("gather");
  return stoppable([&] { return control_.gather(mine); });
}

std::vector<std::byte> progress_engine::reduce(std::span<const std::byte> mine,
                                               recursive_doubling::combine_function combine) {
  expect_nothing_unfinished();
  count_step(main_worker);
  obs::trace_span span(trace_, main_worker, obs::trace_kind::collective);
  if (span) span->amount = mine.size(), span->set_text("reduce");
  return stoppable([&] { return control_.reduce(mine, combine); });
}

void progress_engine::synchronize_cancellation() {
  control_.announce_stop(main_worker);
  destroy_tasks(next_task_generation());
  leave_epoch();
  unfinished_ = nullptr;
  // A rank may leave the gather while packets for it still wait here. Until this rank joins the
  // gather, all other ranks still receive packets, so the outbox is emptied first.
  pool_.wait_until([&] {
    return unsent_bytes() == 0 || control_.poisoned() ||
           transport_failed_.load(std::memory_order_relaxed);
  });
  const used_numbers here{epoch(), channels_.next()};
  const auto last = used_numbers::agreed(control_.restart(std::as_bytes(std::span(&here, 1))));
  pool_.while_not_polling([&] {
    epoch_.store(last.epoch, std::memory_order_relaxed);
    channels_.skip_to(static_cast<std::uint32_t>(last.channel));
    abandon_epoch();
  });
}

bool progress_engine::drain() noexcept {
  if (size_ == 1) return true;
  if (gave_up_draining_) return false;
  bool sent = false;
  const auto deadline = clock_.now_ns() + 2'000'000'000;
  {
    const std::lock_guard held(network_lock_);
    drained_.store(false, std::memory_order_relaxed);
    drains_.store(true, std::memory_order_relaxed);
  }
  try {
    pool_.wait_until([&] {
      const std::unique_lock held(network_lock_, std::try_to_lock);
      if (!held) return false;
      const bool failed = transport_failed_.load(std::memory_order_relaxed);
      if (failed && server_) return true;             // it calls the transport no more
      if (failed) outbox_.try_to_drain(main_worker);  // the poison may still leave
      sent = all_sent();
      return sent || (control_.poisoned() && clock_.now_ns() > deadline);
    });
  } catch (...) {  // unsent packets are lost with this rank
  }
  drains_.store(false, std::memory_order_relaxed);
  gave_up_draining_ = !sent;
  return sent && control_.has_told_all();
}

}  // namespace cairn
