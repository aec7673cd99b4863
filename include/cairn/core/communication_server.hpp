// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <cairn/core/aggregation_queue.hpp>
#include <cairn/core/buffer.hpp>
#include <cairn/core/outbox.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/task/spin_lock.hpp>

namespace cairn {

/// Passes filled blocks to the transport in the style `specialised` (progress_style.hpp). Each
/// thread hands over its blocks through a channel of its own. The communication server sorts them
/// into one queue per destination. It sends the blocks of a queue as one packet when the packet is
/// full or the queue is old.
///
/// hand_over() never waits. A thread whose channel is full should wait: a worker before its next
/// chunk, a helper as helper_room.hpp defines.
///
/// Memory    the blocks that wait; sent ones return to the thread that filled them
/// Thread-safety: each thread calls hand_over() and full() with its number; send() is called under
///                the world's network lock; any thread may call waiting_bytes()
/// Source    [GMT14] section IV.C, figure 3; there the threads themselves fill aggregation buffers
class communication_server {
 public:
  struct options {
    std::size_t packet_bytes = 0;    ///< payload of a packet
    std::uint64_t queue_age_ns = 0;  ///< of a queue that does not fill a packet
    std::size_t channel_blocks = 1;  ///< in a full channel
  };

  communication_server(int threads, rank_t ranks, const options& opt)
      : channel_blocks_(opt.channel_blocks), channels_(threads) {
    for (rank_t r = 0; r < ranks; ++r) {
      queues_.emplace_back(aggregation_queue::limits{opt.packet_bytes, opt.queue_age_ns});
    }
  }

  /// Thread k hands over a block for rank `to`. Returns blocks of this thread that were sent.
  [[nodiscard]] std::vector<buffer> hand_over(worker_t k, rank_t to, std::size_t messages,
                                              buffer&& b);
  [[nodiscard]] bool full(worker_t k) const noexcept {
    return waiting_blocks(k) >= channel_blocks_;
  }
  /// Blocks in the channel of thread k.
  [[nodiscard]] std::size_t waiting_blocks(worker_t k) const noexcept {
    return channels_[k].num_filled.load(std::memory_order_relaxed);
  }
  /// Bytes handed over and not passed to an outbox.
  [[nodiscard]] std::size_t waiting_bytes() const noexcept {
    return waiting_bytes_.load(std::memory_order_relaxed);
  }

  /// Passes the blocks that are due to the outbox; w is the number of the server. Blocks stay in
  /// their channels while packets in the outbox wait for room. Returns whether there were blocks.
  ///
  /// now_ns   not used if queue_age_ns is 0
  /// all      all blocks are due, however young
  bool send(worker_t k, outbox& out, obs::counters& counters, std::uint64_t now_ns,
            bool all = false);

  /// Calls accept(header, payload) for each block of a bundle's payload.
  /// Throws    contract_violation if it is damaged
  template <class Accept>
  static void take_apart(std::span<const std::byte> bundle, Accept&& accept) {
    while (!bundle.empty()) {
      const auto entry = first_entry(bundle);
      const auto block = bundle.subspan(sizeof entry, entry.bytes);
      accept(entry.header, block);
      bundle = bundle.subspan(sizeof entry + entry.bytes);
    }
  }

 private:
  struct filled_block {
    rank_t to;
    outgoing_block block;
  };
  struct channel {
    task::spin_lock guard;
    std::vector<filled_block> filled;
    std::vector<buffer> sent;
    std::atomic<std::size_t> num_filled{0};  // written under the lock
  };

  [[nodiscard]] static bundle_entry first_entry(std::span<const std::byte> bundle);
  bool take_in(std::uint64_t now_ns);
  void send_together(worker_t k, rank_t to, std::vector<outgoing_block> blocks, outbox& out,
                     obs::counters& counters);

  const std::size_t channel_blocks_;
  task::per_worker<channel> channels_;
  std::atomic<std::size_t> waiting_bytes_{0};
  // Used by the server only.
  std::vector<aggregation_queue> queues_;  // by destination
  std::vector<rank_t> used_;               // destinations whose queues are not empty
  std::vector<filled_block> taken_;
  std::vector<std::byte> packet_;
};

}  // namespace cairn
