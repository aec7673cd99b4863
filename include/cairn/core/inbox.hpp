// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <vector>

#include <cairn/core/buffer.hpp>
#include <cairn/core/registry.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn {

/// Arrived buffers that wait for a handler, for their epoch, or for their channel.
///
///   buffer of                         treatment
///   the open epoch, a live channel    queued
///   a standing live channel           queued
///   a channel of one worker           queued for that worker
///   a later epoch                     set aside until this rank opens it
///   a channel not yet constructed     set aside until this rank constructs it
///   an abandoned epoch                discarded
///   a destroyed channel               discarded
///
/// Thread-safety: any worker may call accept(), the functions that take a buffer, empty() and
///                bytes(); the others require that no other worker is in a call
class inbox {
 public:
  explicit inbox(const registry& channels, int workers = 1)
      : channels_(channels), of_worker_(workers) {}

  void accept(buffer&& b);
  /// The next buffer whose handler may run on worker k: of a standing channel, else of the open
  /// epoch.
  [[nodiscard]] std::optional<buffer> take(worker_t k = main_worker);
  /// Like take(), but never a buffer of a standing channel.
  [[nodiscard]] std::optional<buffer> take_of_epoch(worker_t k);
  /// The next buffer of a standing channel.
  [[nodiscard]] std::optional<buffer> take_standing();
  /// The next buffer of a standing channel whose handler sends nothing.
  [[nodiscard]] std::optional<buffer> take_silent();
  /// Whether no buffer is queued. May be stale.
  [[nodiscard]] bool empty() const noexcept { return queued_.load(std::memory_order_relaxed) == 0; }
  /// Whether no buffer is queued that worker k may take. May be stale.
  [[nodiscard]] bool empty(worker_t k) const noexcept {
    return queued_for_any_.load(std::memory_order_relaxed) == 0 &&
           of_worker_[k].queued.load(std::memory_order_relaxed) == 0;
  }
  /// Bytes of the buffers queued and set aside, by their capacity.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return bytes_.load(std::memory_order_relaxed);
  }
  /// Of these, the bytes of buffers queued for other workers than k alone. May be stale.
  [[nodiscard]] std::size_t bytes_of_others(worker_t k) const noexcept {
    const auto mine = of_worker_[k].bytes.load(std::memory_order_relaxed);
    const auto all = bytes_for_one_.load(std::memory_order_relaxed);
    return all > mine ? all - mine : 0;
  }

  void open_epoch(std::uint64_t epoch);
  /// Like open_epoch() without a lock, for one rank: no buffer can wait for the epoch.
  void open_epoch_single_rank(std::uint64_t epoch) noexcept {
    open_.store(epoch, std::memory_order_relaxed);
  }
  /// Takes no lock, because no buffer of the epoch arrives any more.
  void close_epoch() noexcept { open_.store(0, std::memory_order_relaxed); }
  /// Discards the buffers of all epochs up to this one, including those that arrive later.
  void abandon_up_to(std::uint64_t epoch);
  /// Queues the buffers set aside for channels that have been constructed since.
  void requeue_aside();

 private:
  enum class action { queue, set_aside, discard };
  [[nodiscard]] action action_for(buffer& b) const noexcept;
  void place(buffer&& b);
  void place_set_aside();
  void count_queued() noexcept;
  template <class Queue>
  buffer take_first(Queue& queue);
  std::optional<buffer> take_first_of_epoch(worker_t k);

  struct queue_of_worker {
    std::list<buffer> waiting;                     // an empty deque takes 0.6 KiB
    std::atomic<std::size_t> queued{0}, bytes{0};  // written under the lock
  };
  void count_bytes(queue_of_worker& of, std::size_t more, std::size_t less) noexcept;

  const registry& channels_;
  task::spin_lock guard_;
  std::deque<buffer> standing_, of_epoch_;
  std::list<buffer> silent_;                     // of standing channels whose handlers send nothing
  task::per_worker<queue_of_worker> of_worker_;  // of the open epoch
  std::size_t queued_for_one_ = 0;               // in all of these
  std::vector<buffer> set_aside_;
  std::atomic<std::uint64_t> open_{0};  // the number of the open epoch; 0: none is open
  std::uint64_t abandoned_ = 0;
  std::atomic<std::size_t> queued_{0}, queued_for_any_{0}, queued_standing_{0}, bytes_{0};
  std::atomic<std::size_t> bytes_for_one_{0};  // written under the lock
};

}  // namespace cairn
