// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <cairn/core/buffer.hpp>
#include <cairn/core/collectives.hpp>
#include <cairn/core/world.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn {

/// The receiving end of a channel, as the engine sees it.
class receiver {
 public:
  virtual ~receiver() = default;
  /// Takes one buffer's payload, on worker w. Runs concurrently with itself on other workers.
  virtual void deliver(worker_t w, rank_t from, std::span<const std::byte> payload) = 0;
  /// Ships worker w's part-filled buffers; with `only_old` those that were part-filled at the
  /// previous such call already. Returns whether it shipped anything. Called by worker w.
  virtual bool flush(worker_t w, bool only_old) = 0;
};

/// Moves buffers between channels and the transport, for one world of one rank.
///
/// Buffers that came wait in an inbox until a worker takes one and runs its channel's
/// handler; buffers that find no room in the transport wait in overflow queues. Buffers of an
/// epoch that this rank has not opened yet are put aside. A handler never starts inside a
/// send, and only the body (not a handler) waits for room.
///
/// Thread-safety: any worker may call what takes a worker number, with its own.
class engine {
 public:
  /// Counts of epoch messages by one worker; summed by waves (am/ledger.hpp).
  struct message_counts {
    std::atomic<std::uint64_t> sent{0}, handled{0};
  };

  engine(net::transport& net, task::pool& pool, hw::clock& clock, obs::counters& counters,
         const world_options& options);
  ~engine();

  /// Registers a channel; ids follow the order of calls, so all ranks make the same calls.
  [[nodiscard]] std::uint32_t attach(receiver* r);
  void detach(std::uint32_t channel);

  /// Payload bytes of a buffer that the transport likes, as far as settings leave it open.
  [[nodiscard]] std::size_t coalesce_bytes() const noexcept { return coalesce_bytes_; }

  /// An empty buffer for `payload_bytes`, recycled where possible.
  [[nodiscard]] buffer take_buffer(worker_t w, std::size_t payload_bytes);

  /// Sends a filled buffer of an epoch channel; `to` may be this rank.
  void post(worker_t w, rank_t to, std::uint32_t channel, buffer&& b);

  /// Takes in what came and runs at most one buffer's handler. True if it did anything.
  bool progress(worker_t w);
  /// progress(), else ships what worker w has part-filled. The pool's idle hook.
  bool idle(worker_t w);
  /// Between two chunks of a parallel loop: progress, and let old buffers leave.
  void between_chunks(worker_t w);

  void open_epoch();
  void close_epoch();
  [[nodiscard]] bool epoch_open() const noexcept { return epoch_is_open_; }
  /// Epochs opened so far; the open one's number.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] const message_counts& counts(worker_t w) const noexcept { return counts_[w]; }
  /// Worker w has appended n messages; before anybody can handle them.
  void count_sent(worker_t w, std::uint64_t n) noexcept {
    add(counts_[w].sent, n);
    counters_.add(w, obs::counter::messages_sent, n);
  }
  /// Worker w has handled n messages, and counted all that their handlers sent.
  void count_handled(worker_t w, std::uint64_t n) noexcept {
    add(counts_[w].handled, n);
    counters_.add(w, obs::counter::messages_handled, n);
  }

  /// Every rank's bytes, by rank (collective, worker 0).
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine);

  void poison(rank_t culprit, const std::string& text);
  [[nodiscard]] bool poisoned() const noexcept { return poisoned_.load(std::memory_order_acquire); }
  void throw_if_poisoned() const;

  /// Waits (bounded by 2 s once poisoned) until everything posted has left this rank.
  void drain();

 private:
  struct worker_state {
    std::vector<buffer> spare;
    std::uint64_t last_scan_ns = 0;
    bool in_handler = false;
  };
  struct attached {
    std::uint32_t channel;
    receiver* to;
  };
  struct partial {
    buffer whole;
    std::size_t missing = 0;
  };

  // One writer per counter: no locked instruction. The release orders what the handler wrote.
  static void add(std::atomic<std::uint64_t>& count, std::uint64_t n) noexcept {
    count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }
  bool exchange_packets(worker_t w);
  void drain_overflow(worker_t w);
  void push_out(worker_t w, rank_t to, buffer&& b);
  void send_fragments(rank_t to, const buffer& b);
  void enqueue(rank_t to, std::span<const std::byte> packet);
  void take_in(worker_t w, rank_t from, std::span<const std::byte> packet);
  void take_fragment(worker_t w, rank_t from, std::span<const std::byte> packet);
  void accept(worker_t w, buffer&& b);
  void into_inbox(buffer&& b);
  void send_collective_packets(worker_t w);
  void dispatch(worker_t w, buffer&& b);
  void recycle(worker_t w, buffer&& b);
  void wait_for_room(worker_t w);
  bool flush(worker_t w, bool only_old);
  [[nodiscard]] receiver& receiver_of(std::uint32_t channel) const;

  net::transport& net_;
  task::pool& pool_;
  hw::clock& clock_;
  obs::counters& counters_;
  const rank_t rank_, size_;
  const std::size_t coalesce_bytes_, pending_bound_;
  const std::uint64_t age_ns_;

  task::per_worker<message_counts> counts_;
  task::per_worker<worker_state> workers_;
  std::vector<attached> receivers_;  // that live, by channel: idle workers look at all of them
  std::uint32_t next_channel_;

  // Guarded by net_guard_: the transport, overflow, reassembly, collectives.
  task::spin_lock net_guard_;
  std::vector<std::list<std::vector<std::byte>>> overflow_;  // a deque takes 0.6 KB when empty
  std::map<std::pair<rank_t, std::uint64_t>, partial> partials_;
  std::uint64_t next_fragmented_ = 0;
  collectives collectives_;
  std::atomic<bool> collective_done_{true};
  std::atomic<std::size_t> pending_bytes_{0};

  // Guarded by inbox_guard_: what came and waits for a handler or for its epoch.
  task::spin_lock inbox_guard_;
  std::deque<buffer> inbox_;
  std::vector<buffer> early_;
  std::uint64_t epoch_ = 0;
  std::atomic<bool> epoch_is_open_{false};  // written by worker 0, under the guard
  std::atomic<std::size_t> inbox_size_{0};

  std::atomic<bool> poisoned_{false};
  task::spin_lock poison_guard_;
  rank_t culprit_ = 0;
  std::string poison_text_;
};

}  // namespace cairn
