// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cairn/core/buffer_pool.hpp>
#include <cairn/core/control.hpp>
#include <cairn/core/fragments.hpp>
#include <cairn/core/inbox.hpp>
#include <cairn/core/outbox.hpp>
#include <cairn/core/registry.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn {

/// Moves the messages of one world of one rank: polls the transport, runs handlers, ships
/// part-filled buffers, and opens and closes epochs. The network is one progress source of the
/// pool.
///
/// A handler never starts inside a send, and a send never blocks: the body waits for room between
/// chunks, where handlers run meanwhile.
///
/// Thread-safety: any worker may call what takes a worker number, with its own. The rest is for
///                worker 0 outside jobs, as far as nothing else is said.
class progress_engine final : public task::progress_source {
 public:
  progress_engine(net::transport& net, task::pool& pool, hw::clock& clock, obs::counters& counters,
                  const world_options& options);
  ~progress_engine();

  // Channels ---------------------------------------------------------------------------------

  /// Registers a channel; numbers follow the order of calls, so all ranks make the same calls.
  [[nodiscard]] std::uint32_t attach(receiver& r, channel_kind kind);
  void detach(std::uint32_t number, channel_kind kind, receiver& r);

  /// Payload bytes of a buffer that the transport likes, as far as settings leave it open.
  [[nodiscard]] std::size_t coalesce_bytes() const noexcept { return buffers_.usual_bytes(); }

  /// An empty buffer for `payload_bytes`, recycled where possible.
  [[nodiscard]] buffer take_buffer(worker_t w, std::size_t payload_bytes) {
    auto b = buffers_.take(w, payload_bytes);
    charge(w, static_cast<std::int64_t>(b.capacity()));
    return b;
  }
  /// Worker w holds so many bytes more, or less, in blocks or tables of messages.
  void charge(worker_t w, std::int64_t bytes) noexcept {
    auto& held = workers_[w].held_bytes;
    held.store(held.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  /// Bytes of messages on this rank: in blocks and tables, in the inbox, and waiting for room in
  /// the transport. Any worker.
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  /// Sends a filled buffer of a channel; `to` may be this rank.
  void post(worker_t w, rank_t to, std::uint32_t number, channel_kind kind, buffer&& b);

  // Progress ---------------------------------------------------------------------------------

  /// Takes in what arrived and runs at most one buffer's handler, else ships what worker w has
  /// part-filled. Returns whether it did anything. An error fails the world.
  bool progress(worker_t w) noexcept override;
  /// Takes packets in, so that this rank hears of the end. Runs no handlers.
  [[nodiscard]] bool may_go_on(worker_t w) noexcept override;
  /// Throws peer_failure if the world is poisoned; if it is to be cancelled, meets the other ranks
  /// and throws `cancelled`.
  void throw_if_interrupted() override;
  /// Between two chunks of a loop: takes in what arrived, runs the handlers, lets old buffers
  /// leave, waits for room. Returns whether the loop may go on: the world is neither poisoned nor
  /// cancelled. Not inside a handler.
  [[nodiscard]] bool between_chunks(worker_t w);
  /// The same without waiting for room; ships all buffers of a worker that is idle.
  void move_on(worker_t w, bool idle);

  // Epochs -----------------------------------------------------------------------------------

  void open_epoch();
  /// Nothing of the epoch is on its way any more.
  void close_epoch();
  /// The epoch ends by an exception: its messages on this rank are discarded.
  void leave_epoch() noexcept;
  [[nodiscard]] bool epoch_open() const noexcept {
    return epoch_is_open_.load(std::memory_order_acquire);
  }
  /// Epochs opened so far; the open one's number.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }

  /// n pieces of work that will send later keep the open epoch from ending, until they are
  /// released, by the same or another worker, after their sends.
  void hold(worker_t w, std::uint64_t n) noexcept { holds_[w].add_sent(n); }
  void release(worker_t w, std::uint64_t n) noexcept { holds_[w].add_handled(n); }

  struct totals {
    std::uint64_t sent = 0, handled = 0;
  };
  /// Messages and holds of the open epoch, over this rank's channels and workers. `handled` is
  /// read before `sent`, so a handler that runs meanwhile shows as a message on its way. Any
  /// worker.
  [[nodiscard]] totals epoch_totals() const noexcept;

  // Collectives ------------------------------------------------------------------------------

  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine);
  std::vector<std::byte> reduce(std::span<const std::byte> mine,
                                recursive_doubling::combine_function combine);
  /// Collectives without the world around them, poison and cancellation.
  [[nodiscard]] control& protocols() noexcept { return control_; }
  [[nodiscard]] const control& protocols() const noexcept { return control_; }

  /// Whether the world is poisoned, or this rank is to stop its loops.
  [[nodiscard]] bool interrupted() const noexcept {
    return control_.poisoned() || control_.stopping();
  }

  /// Calls f; if it throws `cancelled`, meets the other ranks, so that the world is usable again.
  template <class F>
  decltype(auto) stoppable(F&& f) {
    const auto generation = control_.generation();
    try {
      return std::forward<F>(f)();
    } catch (const cancelled&) {
      if (control_.generation() == generation) stop_with_the_others();
      throw;
    }
  }

  /// Waits (bounded by 2 s once poisoned) until everything posted has left this rank.
  void drain() noexcept;

 private:
  struct worker_state {
    std::uint64_t last_scan_ns = 0;
    bool in_handler = false;
    std::atomic<std::int64_t> held_bytes{0};
  };

  template <class F>
  bool with_transport(F&& f);
  bool poll(worker_t w);
  void arrived(worker_t w, rank_t from, std::span<const std::byte> packet);
  void deliver(worker_t w, buffer&& b);
  bool run_one(worker_t w);
  bool flush(worker_t w, bool only_old);
  void flush_standing(worker_t w);
  void flush_old(worker_t w);
  [[nodiscard]] bool lacks_room() const noexcept;
  void wait_for_room(worker_t w);
  void expect_no_epoch_left();
  void abandon_epoch();
  void stop_with_the_others();

  net::transport& net_;
  task::pool& pool_;
  hw::clock& clock_;
  obs::counters& counters_;
  const rank_t rank_, size_;
  const std::size_t memory_bound_;
  const std::uint64_t age_ns_;

  task::spin_lock network_lock_;  // guards the transport, the outbox, fragments and control
  fragments fragments_;
  outbox outbox_;
  registry channels_;
  inbox inbox_;
  buffer_pool buffers_;
  control control_;

  task::per_worker<worker_state> workers_;
  task::per_worker<message_count> holds_;
  std::uint64_t epoch_ = 0;
  std::atomic<bool> epoch_is_open_{false};
  bool epoch_was_left_ = false;
  int num_standing_ = 0;
  std::atomic<bool> transport_failed_{false};
};

}  // namespace cairn
