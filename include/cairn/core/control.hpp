// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cairn/core/board_reduction.hpp>
#include <cairn/core/buffer.hpp>
#include <cairn/core/cancellation.hpp>
#include <cairn/core/collectives.hpp>
#include <cairn/core/outbox.hpp>
#include <cairn/core/progress_snapshot.hpp>
#include <cairn/core/recursive_doubling.hpp>
#include <cairn/obs/counters.hpp>
#include <cairn/task/pool.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn {

/// The runtime's own protocols: collectives, poison and cancellation. Their packets are handled
/// when they are polled.
///
/// Cancellation stops every rank at the same collective; cancellation.hpp decides which.
///
/// Thread-safety: stated at each function
class control {
 public:
  control(net::transport& net, outbox& out, task::spin_lock& network_lock, task::pool& pool,
          obs::counters& counters);

  /// Handles a packet that is not for a channel. The caller holds the network lock.
  void handle_packet(worker_t k, const packet_header& header, rank_t from,
                     std::span<const std::byte> payload);

  /// Every rank's bytes, by rank. Collective, worker 0.
  gathered_parts gather(std::span<const std::byte> mine);
  /// Combines all ranks' values in the shape of recursive_doubling.hpp: short ones on a board if
  /// the ranks share memory (board_reduction.hpp), else by messages. Collective, worker 0.
  std::vector<std::byte> reduce(std::span<const std::byte> mine,
                                recursive_doubling::combine_function combine);

  /// reduce() in two steps, by any worker, but by one at a time: begins a reduction, then returns
  /// the result once it is complete. Both throw peer_failure and cancelled.
  void begin_reduce(worker_t k, std::span<const std::byte> mine,
                    recursive_doubling::combine_function combine);
  [[nodiscard]] std::optional<std::span<const std::byte>> try_take_reduced(worker_t k);

  /// Fails the world on all ranks; the first failure is kept. Any thread.
  void poison(rank_t failed_rank, const std::string& text) noexcept;
  [[nodiscard]] bool poisoned() const noexcept { return poisoned_.load(std::memory_order_acquire); }
  /// False after a poison() that could not send to every rank.
  [[nodiscard]] bool has_told_all() const noexcept {
    return has_told_all_.load(std::memory_order_relaxed);
  }
  void throw_if_poisoned() const;

  /// Asks all ranks to stop. Async-signal-safe; any thread.
  void cancel() noexcept { cancelling_.request(); }
  /// Whether this rank must stop its loops.
  [[nodiscard]] bool stopping() const noexcept { return cancelling_.stopping(); }
  /// If this rank is stopping, announces that it will not begin its next collective. Any worker.
  void announce_stop(worker_t k);
  /// How often the ranks have stopped together.
  [[nodiscard]] std::uint32_t generation() const noexcept { return cancelling_.generation(); }
  /// The collective that this rank waits for, if any. Any thread.
  [[nodiscard]] std::optional<pending_collective> pending() const;
  /// Begins a new generation with a gather of `mine`, which no request to cancel stops. Called by
  /// worker 0 of every stopped rank, while no other worker is in a call.
  gathered_parts restart(std::span<const std::byte> mine);

 private:
  struct kept_packet {
    packet_header header;
    rank_t from;
    std::vector<std::byte> payload;
  };

  void send(worker_t k, packet_kind kind, rank_t to, std::span<const std::byte> payload);
  void send_to_all(worker_t k, packet_kind kind, std::span<const std::byte> payload);
  void begin_gather(std::span<const std::byte> mine);
  gathered_parts finish_gather();
  void send_gather(worker_t k);
  void send_reduction(worker_t k);
  void look_at_board(worker_t k);
  void handle_packet_of_generation(worker_t k, const packet_header& header, rank_t from,
                                   std::span<const std::byte> payload);
  void expect_to_begin(worker_t k);
  void send_announcement(worker_t k);
  void tell_all(rank_t failed_rank, const std::string& text) noexcept;
  void wait_for(const std::atomic<bool>& complete);

  outbox& out_;
  task::spin_lock& network_lock_;
  task::pool& pool_;
  obs::counters& counters_;
  const rank_t rank_, size_;

  // Of the worker that begins and takes reductions. It begins and restarts them under the network
  // lock.
  board_reduction board_;
  recursive_doubling::combine_function combine_ = nullptr;
  std::optional<std::span<const std::byte>> board_result_;  // until it is taken
  std::atomic<bool> looks_at_board_{false};

  // Guarded by the network lock.
  collectives gathering_;
  recursive_doubling reducing_;
  std::vector<std::byte> packet_;
  std::vector<kept_packet> kept_;  // of later generations
  std::atomic<bool> gathered_{true}, reduced_{true};
  cancellation cancelling_;  // all changes except cancel()

  std::atomic<bool> poisoned_{false}, has_told_all_{true};
  mutable task::spin_lock poison_guard_;
  rank_t failed_rank_ = 0;
  std::string poison_text_;
};

}  // namespace cairn
