// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cairn/core/buffer_pool.hpp>
#include <cairn/core/communication_server.hpp>
#include <cairn/core/control.hpp>
#include <cairn/core/fragments.hpp>
#include <cairn/core/helper_room.hpp>
#include <cairn/core/inbox.hpp>
#include <cairn/core/outbox.hpp>
#include <cairn/core/progress_snapshot.hpp>
#include <cairn/core/registry.hpp>
#include <cairn/core/rest_choice.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/scheduler.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn {

/// Moves the messages of one world on one rank: polls the transport, runs handlers, sends
/// part-filled buffers, and opens and closes epochs. It is one progress source of the pool.
///
/// A handler never starts inside a send, and a send never blocks: the body waits for room between
/// chunks, and handlers run meanwhile. Threads beside the workers (progress_style.hpp), if there
/// are any, do the work that needs no worker. They use the worker numbers after the last worker's.
///
/// Thread-safety: any worker may call the functions that take a worker number, with its own. Unless
///                stated otherwise, the others are called by worker 0 outside jobs
class progress_engine final : public task::progress_source, private task::scheduler_host {
 public:
  progress_engine(net::transport& net, task::pool& pool, hw::clock& clock, obs::counters& counters,
                  obs::trace& trace, const world_options& options);
  ~progress_engine();

  // Channels ---------------------------------------------------------------------------------

  /// Registers a channel. Numbers follow the order of calls, so all ranks must make the same calls.
  /// `label` is its name in reports and traces; it exists as long as the channel.
  ///
  /// worker    the only worker that runs its handlers, or any_worker; always any_worker for a
  /// standing channel
  [[nodiscard]] std::uint32_t attach(receiver& r, channel_kind kind, std::string_view label,
                                     int worker = any_worker);
  void detach(std::uint32_t number, channel_kind kind, receiver& r);

  /// Payload bytes of a block: the setting, or else the transport's best size, which a channel
  /// does not exceed.
  [[nodiscard]] std::size_t coalesce_bytes() const noexcept { return buffers_.usual_bytes(); }
  /// The same if a setting gives it, else 0: channels choose the size of their blocks.
  [[nodiscard]] std::size_t requested_bytes() const noexcept {
    return blocks_requested_ ? coalesce_bytes() : 0;
  }
  /// The transport's packet_cost(), also for one rank.
  [[nodiscard]] std::size_t packet_cost() const noexcept { return net_.packet_cost(); }
  [[nodiscard]] std::size_t packet_cost_to(rank_t to) const noexcept {
    return net_.packet_cost_to(to);
  }
  /// The transport's best size for buffers to one rank.
  [[nodiscard]] std::size_t best_bytes(rank_t to) const noexcept;
  /// About `wanted` bytes, at most the best size, so that no packet of them is just above a size
  /// from which packets to this rank cost more (net/packet_steps.hpp).
  [[nodiscard]] std::size_t suitable_bytes(rank_t to, std::size_t wanted) const noexcept;
  /// The steps of packets to one rank.
  [[nodiscard]] const net::packet_steps& steps_to(rank_t to) const noexcept {
    return net_.steps_to(to);
  }

  /// An empty buffer for `payload_bytes`, recycled if possible.
  [[nodiscard]] buffer take_buffer(worker_t k, std::size_t payload_bytes) {
    auto b = buffers_.take(k, payload_bytes);
    charge(k, static_cast<std::int64_t>(b.capacity()));
    return b;
  }
  /// Takes back a buffer of take_buffer() that is not sent.
  void give_back(worker_t k, buffer&& b) {
    charge(k, -static_cast<std::int64_t>(b.capacity()));
    buffers_.give_back(k, std::move(b));
  }
  /// Adds `bytes`, which may be negative, to the bytes that worker k holds in blocks or tables.
  void charge(worker_t k, std::int64_t bytes) noexcept {
    auto& held = workers_[k].held_bytes;
    held.store(held.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  /// Bytes of messages on this rank: in blocks and tables, in the inbox, and waiting for the
  /// transport. Any worker.
  [[nodiscard]] std::size_t held_bytes() const noexcept;
  /// Sends a filled buffer of a channel; `to` may be this rank.
  void post(worker_t k, rank_t to, std::uint32_t number, channel_kind kind, std::size_t messages,
            buffer&& b);

  // Progress ---------------------------------------------------------------------------------

  /// Receives packets and runs the handler of at most one buffer; otherwise sends worker k's
  /// part-filled buffers. Returns whether it did anything. An error fails the world.
  bool poll(worker_t k) noexcept override;
  /// Receives packets, so that this rank notices poison and cancellation. Runs no handlers.
  [[nodiscard]] bool may_continue(worker_t k) noexcept override;
  /// Throws peer_failure if the world is poisoned. If the world is being cancelled, synchronises
  /// with the other ranks and throws `cancelled`.
  void throw_if_interrupted() override;
  /// Called between two chunks of a loop, not inside a handler: receives packets, runs handlers,
  /// sends old buffers, waits for room. Returns false if the loop must end, because the world is
  /// poisoned or cancelled.
  [[nodiscard]] bool between_chunks(worker_t k);
  /// The same without waiting for room. If `idle`, sends all buffers of the worker.
  void make_progress(worker_t k, bool idle);

  // Tasks ------------------------------------------------------------------------------------

  /// The scheduler of this rank's tasks, made at the first call.
  [[nodiscard]] task::scheduler& tasks();
  /// Messages that belong to tasks carry this number. A rank discards messages with a lower number,
  /// because their tasks were destroyed. The number counts the stops of all ranks
  /// (cancellation.hpp); on one rank also the runs that failed. Any worker.
  [[nodiscard]] std::uint32_t task_generation() const noexcept {
    return task_generation_.load(std::memory_order_acquire);
  }
  /// Destroys all tasks for good, because a run has failed or the world ends.
  void close_tasks() noexcept;

  // Epochs -----------------------------------------------------------------------------------

  void open_epoch();
  /// Called when nothing of the epoch is in flight any more.
  void close_epoch();
  /// Called when an exception has left a run of tasks; the other ranks may wait for the run.
  void leave_run() noexcept {
    close_tasks();
    unfinished_ = "an exception left a run of tasks, and the other ranks wait for it";
  }
  /// Ends the epoch after an exception: discards its messages on this rank.
  void leave_epoch() noexcept;
  /// Number of epochs that ended by an exception or a cancellation, with messages still on their
  /// way. Any worker.
  [[nodiscard]] std::uint64_t abandoned_epochs() const noexcept {
    return abandoned_epochs_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool epoch_open() const noexcept {
    return epoch_is_open_.load(std::memory_order_acquire);
  }
  /// Number of epochs opened so far, which is the number of the open one.
  [[nodiscard]] std::uint64_t epoch() const noexcept {
    return epoch_.load(std::memory_order_relaxed);
  }

  /// Called by a loop that tests for the end of the open epoch itself. From then on part-filled
  /// buffers are sent as soon as that takes little of the time. Any worker.
  void send_early() noexcept { sends_early_.store(true, std::memory_order_relaxed); }

  /// Keeps the epoch open for n pieces of work that will still send. A piece is released after its
  /// sends, by the same or another worker.
  void hold(worker_t k, std::uint64_t n) noexcept { holds_[k].add_sent(n); }
  void release(worker_t k, std::uint64_t n) noexcept { holds_[k].add_handled(n); }

  struct totals {
    std::uint64_t sent = 0, handled = 0;
    /// Since the epoch was opened: messages on any channel whose handlers may send, and holds. Not
    /// counted with one rank.
    std::uint64_t leading = 0;
  };
  /// Messages and holds of the open epoch, over this rank's channels and workers. `handled` is read
  /// before the others, so a handler that runs meanwhile counts as a message in flight. Any worker.
  [[nodiscard]] totals epoch_totals() const noexcept;

  // Progress reports -------------------------------------------------------------------------

  /// progress_snapshot::steps. Any thread.
  [[nodiscard]] std::uint64_t steps() const noexcept;
  /// The current work of this rank. Any thread.
  [[nodiscard]] progress_snapshot snapshot();
  /// Records the counts of a termination wave over all ranks. Called by one worker at a time.
  void record_wave(const totals& counted) noexcept;

  /// The traffic that this rank has sent so far. Any worker.
  [[nodiscard]] std::vector<obs::sent_amount> traffic();

  // Collectives ------------------------------------------------------------------------------

  gathered_parts all_gather(std::span<const std::byte> mine);
  std::vector<std::byte> reduce(std::span<const std::byte> mine,
                                recursive_doubling::combine_function combine);
  /// Low-level collectives, poison and cancellation.
  [[nodiscard]] control& protocols() noexcept { return control_; }
  [[nodiscard]] const control& protocols() const noexcept { return control_; }

  /// Whether the world is poisoned, or this rank must stop its loops.
  [[nodiscard]] bool interrupted() const noexcept override {
    return control_.poisoned() || control_.stopping();
  }

  /// Calls f. If f throws `cancelled`, synchronises with the other ranks, so that the world is
  /// usable again.
  template <class F>
  decltype(auto) stoppable(F&& f) {
    const auto generation = control_.generation();
    try {
      return std::forward<F>(f)();
    } catch (const cancelled&) {
      if (control_.generation() == generation) synchronize_cancellation();
      throw;
    }
  }

  /// Waits until everything posted has left this rank; at most 2 s if the world is poisoned.
  /// Returns   whether all of it has left
  bool drain() noexcept;

 private:
  struct worker_state {
    std::uint64_t last_scan_ns = 0, scan_ns = 0;  // of the buffers
    std::uint64_t last_poll_ns = 0;
    bool owes_answers = false;            // it handled messages at its last poll
    std::atomic<std::uint64_t> polls{0};  // one writer
    std::atomic<bool> in_handler{false};
    std::atomic<std::uint64_t> steps{0};
    std::atomic<std::int64_t> held_bytes{0};
  };

  void remove(std::uint32_t number, channel_kind kind, receiver& r);
  template <class F>
  bool with_transport(F&& f);
  void count_step(worker_t k) noexcept {
    auto& steps = workers_[k].steps;  // one writer
    steps.store(steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  bool poll_transport(worker_t k);
  [[nodiscard]] std::size_t unsent_bytes() const noexcept;
  bool send_for_others(worker_t k);
  [[nodiscard]] bool all_sent();
  void receive_packet(worker_t k, rank_t from, std::span<const std::byte> packet);
  void accept(worker_t k, rank_t from, const packet_header& header,
              std::span<const std::byte> payload);
  void deliver(worker_t k, buffer&& b);
  bool run_one(worker_t k);
  static void describe(obs::trace_span& span, const packet_header& header, rank_t from,
                       std::size_t bytes);
  [[nodiscard]] bool workers_poll() const noexcept {
    return size_ == 1 || style_ == progress_style::poll || style_ == progress_style::automatic;
  }
  [[nodiscard]] std::uint64_t polls_of_workers() const noexcept;
  [[nodiscard]] bool must_rest(worker_t k) noexcept;
  [[nodiscard]] bool receives() const noexcept;
  bool handle_standing(worker_t k);
  [[nodiscard]] bool waits_for_room(worker_t helper) const noexcept;
  task::poll_result serve(worker_t k) noexcept;
  bool flush(worker_t k, flush_scope scope);
  void flush_standing(worker_t k);
  void flush_answers(worker_t k, std::size_t handled, std::uint64_t now);
  void flush_old(worker_t k, std::uint64_t now);
  [[nodiscard]] bool lacks_room(worker_t k) const noexcept;
  void wait_for_room(worker_t k);
  void between_batches(worker_t k) noexcept override;
  void resumed_tasks(worker_t k) noexcept override { count_step(k); }
  void chose_in_flight(worker_t k, std::size_t tasks) noexcept override;
  void failed(std::exception_ptr error) noexcept override;
  void before_destroying_tasks() noexcept override;
  void destroy_tasks(std::uint32_t next_generation) noexcept;
  [[nodiscard]] std::uint32_t next_task_generation() const noexcept;
  void expect_nothing_unfinished();
  // All sent messages whose handlers may send, and all holds, of live channels.
  [[nodiscard]] std::uint64_t leading_messages() const noexcept;
  void abandon_epoch();
  void synchronize_cancellation();

  net::transport& net_;
  task::pool& pool_;
  hw::clock& clock_;
  obs::counters& counters_;
  obs::trace& trace_;
  const rank_t rank_, size_;
  const progress_style style_;
  const int threads_;  // that may run handlers
  const int sender_;   // the thread that alone calls the transport, or any_worker
  const std::size_t memory_bound_;
  const bool blocks_requested_;    // their size is a setting
  const std::size_t block_share_;  // bytes of a block for one rank by one thread
  const std::uint64_t age_ns_;
  const std::size_t prefetching_;

  task::spin_lock network_lock_;  // guards the transport, the outbox, fragments and control
  fragments fragments_;
  outbox outbox_;
  std::unique_ptr<communication_server> server_;  // of the style `specialised`
  task::spin_lock channels_guard_;                // held when channels_ changes, and by snapshot()
  registry channels_;
  inbox inbox_;
  buffer_pool buffers_;
  control control_;

  task::per_worker<worker_state> workers_;
  task::per_worker<message_counter> holds_;
  std::atomic<std::uint64_t> epoch_{0};
  // leading_messages() when the epoch was opened, less those of channels detached since.
  std::uint64_t leading_before_ = 0;
  std::atomic<std::uint64_t> waves_sent_{0}, waves_handled_{0}, wave_changes_{0};
  std::atomic<bool> epoch_is_open_{false}, sends_early_{false};
  const char* unfinished_ =
      nullptr;  // a sentence about an epoch or a run that an exception has left
  int num_standing_channels_ = 0, num_worker_channels_ = 0;  // channels: standing, or of one worker
  rest_choice rest_choice_;                                  // of the progress thread
  std::atomic<bool> transport_failed_{false}, drains_{false}, drained_{false};
  std::unique_ptr<task::scheduler> tasks_;
  std::atomic<std::uint32_t> task_generation_{0};
  std::atomic<std::uint64_t> abandoned_epochs_{0};
  bool gave_up_draining_ = false;
};

}  // namespace cairn
