// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <utility>

#include <cairn/core/inbox.hpp>

namespace cairn {

inbox::action inbox::action_for(buffer& b) const noexcept {
  const auto& header = b.header();
  if (header.epoch != 0 && header.epoch <= abandoned_) return action::discard;
  switch (channels_.state_of(header.number)) {
    case registry::state::destroyed:
      return action::discard;
    case registry::state::not_constructed:
      return action::set_aside;
    case registry::state::live:
      break;
  }
  const bool of_open_epoch = header.epoch == open_.load(std::memory_order_relaxed);
  return header.epoch == 0 || of_open_epoch ? action::queue : action::set_aside;
}

void inbox::count_bytes(queue_of_worker& of, std::size_t more, std::size_t less) noexcept {
  for (auto* const sum : {&of.bytes, &bytes_for_one_}) {
    sum->store(sum->load(std::memory_order_relaxed) + more - less, std::memory_order_relaxed);
  }
}

void inbox::place(buffer&& b) {
  switch (action_for(b)) {
    case action::queue:
      if (const int w = channels_.worker_of(b.header().number); w != any_worker) {
        auto& of = of_worker_[worker_t(w)];
        const auto bytes = b.capacity();
        of.waiting.push_back(std::move(b));
        count_bytes(of, bytes, 0);
        of.queued.store(of.waiting.size(), std::memory_order_relaxed);
        ++queued_for_one_;
      } else if (b.header().epoch != 0) {
        of_epoch_.push_back(std::move(b));
      } else if (channels_.find(b.header().number)->sends()) {
        standing_.push_back(std::move(b));
      } else {
        silent_.push_back(std::move(b));
      }
      break;
    case action::set_aside:
      set_aside_.push_back(std::move(b));
      break;
    case action::discard:
      bytes_.fetch_sub(b.capacity(), std::memory_order_relaxed);
      break;
  }
}

// If an allocation fails, the buffers that are not yet placed stay set aside.
void inbox::place_set_aside() {
  std::size_t next = 0, kept = 0;
  const auto keep = [&] {
    if (kept != next) set_aside_[kept] = std::move(set_aside_[next]);
    ++kept;
  };
  const auto at_end = [&] {
    for (; next < set_aside_.size(); ++next) keep();
    set_aside_.resize(kept);
    count_queued();
  };
  try {
    for (; next < set_aside_.size(); ++next) {
      if (action_for(set_aside_[next]) == action::set_aside) {
        keep();
      } else {
        place(std::move(set_aside_[next]));
      }
    }
  } catch (...) {
    at_end();
    throw;
  }
  at_end();
}

void inbox::count_queued() noexcept {
  const auto standing = standing_.size() + silent_.size();
  queued_standing_.store(standing, std::memory_order_relaxed);
  const auto for_any = standing + of_epoch_.size();
  queued_for_any_.store(for_any, std::memory_order_relaxed);
  queued_.store(for_any + queued_for_one_, std::memory_order_relaxed);
}

void inbox::accept(buffer&& b) {
  const std::lock_guard held(guard_);
  const auto bytes = b.capacity();
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  try {
    place(std::move(b));
  } catch (...) {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    throw;
  }
  count_queued();
}

template <class Queue>
buffer inbox::take_first(Queue& queue) {
  auto b = std::move(queue.front());
  queue.pop_front();
  count_queued();
  bytes_.fetch_sub(b.capacity(), std::memory_order_relaxed);
  return b;
}

std::optional<buffer> inbox::take(worker_t k) {
  if (empty(k)) return std::nullopt;
  const std::lock_guard held(guard_);
  if (!silent_.empty()) return take_first(silent_);
  if (!standing_.empty()) return take_first(standing_);
  return take_first_of_epoch(k);
}

std::optional<buffer> inbox::take_of_epoch(worker_t k) {
  const auto for_any = queued_for_any_.load(std::memory_order_relaxed);
  const bool none_for_any = for_any == queued_standing_.load(std::memory_order_relaxed);
  if (none_for_any && of_worker_[k].queued.load(std::memory_order_relaxed) == 0) {
    return std::nullopt;
  }
  const std::lock_guard held(guard_);
  return take_first_of_epoch(k);
}

std::optional<buffer> inbox::take_first_of_epoch(worker_t k) {
  if (auto& mine = of_worker_[k]; !mine.waiting.empty()) {
    --queued_for_one_;
    count_bytes(mine, 0, mine.waiting.front().capacity());
    mine.queued.store(mine.waiting.size() - 1, std::memory_order_relaxed);
    return take_first(mine.waiting);
  }
  if (!of_epoch_.empty()) return take_first(of_epoch_);
  return std::nullopt;
}

std::optional<buffer> inbox::take_standing() {
  if (queued_standing_.load(std::memory_order_relaxed) == 0) return std::nullopt;
  const std::lock_guard held(guard_);
  if (!silent_.empty()) return take_first(silent_);
  if (standing_.empty()) return std::nullopt;
  return take_first(standing_);
}

std::optional<buffer> inbox::take_silent() {
  if (queued_standing_.load(std::memory_order_relaxed) == 0) return std::nullopt;
  const std::lock_guard held(guard_);
  if (silent_.empty()) return std::nullopt;
  return take_first(silent_);
}

void inbox::open_epoch(std::uint64_t epoch) {
  const std::lock_guard held(guard_);
  open_.store(epoch, std::memory_order_relaxed);
  if (!set_aside_.empty()) place_set_aside();
}

void inbox::abandon_up_to(std::uint64_t epoch) {
  const std::lock_guard held(guard_);
  abandoned_ = epoch;
  // Before any buffer moves, because it may throw.
  auto all = set_aside_.size() + silent_.size() + standing_.size() + of_epoch_.size();
  for (const auto& of : of_worker_) all += of.value.waiting.size();
  set_aside_.reserve(all);
  const auto put_aside = [this](auto& queue) {
    for (auto& b : queue) set_aside_.push_back(std::move(b));
    queue.clear();
  };
  put_aside(silent_);
  put_aside(standing_);
  put_aside(of_epoch_);
  for (auto& of : of_worker_) {
    for (auto& b : of.value.waiting) set_aside_.push_back(std::move(b));
    of.value.waiting.clear();
    of.value.bytes.store(0, std::memory_order_relaxed);
    of.value.queued.store(0, std::memory_order_relaxed);
  }
  queued_for_one_ = 0;
  bytes_for_one_.store(0, std::memory_order_relaxed);
  place_set_aside();
}

void inbox::requeue_aside() {
  const std::lock_guard held(guard_);
  place_set_aside();
}

}  // namespace cairn
