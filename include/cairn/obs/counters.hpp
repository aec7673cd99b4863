// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <cairn/base/types.hpp>

namespace cairn::obs {

/// Everything that Cairn counts. `counter_table` defines the names used in reports.
enum class counter : std::uint8_t {
  messages_sent,
  messages_handled,
  messages_filtered,
  messages_merged,
  messages_forwarded,
  fragments,
  buffers_sent,
  buffers_received,
  protocol_buffers,
  buffers_forwarded,
  buffers_joined,
  bytes_sent,
  bytes_received,
  overflow_buffers,
  epochs,
  waves,
  collectives,
  edges,
  lookups,
  operators,
  operators_failed,
  answers,
  activities,
  attempts,
  aborts_conflict,
  aborts_capacity,
  aborts_explicit,
  aborts_other,
  fallbacks,
  splits,
  pretouches,
  lock_waits,
  requeued,
  dtx_commits,
  dtx_restarts,
  dtx_refusals,
};

struct counter_info {
  counter id;
  std::string_view name;
  std::string_view meaning;  ///< one line
};

inline constexpr std::array counter_table{
    counter_info{counter::messages_sent, "messages_sent",
                 "messages appended for another rank, or through a channel for this rank"},
    counter_info{counter::messages_handled, "messages_handled",
                 "messages handled by a channel's handler"},
    counter_info{counter::messages_filtered, "messages_filtered",
                 "messages dropped by the sent-filter, at the sender or at a hop"},
    counter_info{counter::messages_merged, "messages_merged",
                 "messages combined with another of the same key, at the sender or at a hop"},
    counter_info{counter::messages_forwarded, "messages_forwarded",
                 "messages forwarded at a hop of their route, once per hop"},
    counter_info{counter::fragments, "fragments",
                 "buffers reassembled from fragments, because they exceeded a packet"},
    counter_info{counter::buffers_sent, "buffers_sent", "buffers given to the transport"},
    counter_info{counter::buffers_received, "buffers_received",
                 "buffers received from the transport"},
    counter_info{counter::protocol_buffers, "protocol_buffers",
                 "sent buffers of collectives and of the runtime's other protocols"},
    counter_info{counter::buffers_forwarded, "buffers_forwarded",
                 "received buffers that held messages to forward"},
    counter_info{counter::buffers_joined, "buffers_joined",
                 "buffers joined with others, for a hop or by a communication server"},
    counter_info{counter::bytes_sent, "bytes_sent", "bytes in buffers given to the transport"},
    counter_info{counter::bytes_received, "bytes_received",
                 "bytes in buffers received from the transport"},
    counter_info{counter::overflow_buffers, "overflow_buffers",
                 "buffers that waited in memory for room in the transport"},
    counter_info{counter::epochs, "epochs", "epochs closed"},
    counter_info{counter::waves, "waves", "waves (global sums) of termination detection"},
    counter_info{counter::collectives, "collectives",
                 "all-gathers and reductions begun, waves included"},
    counter_info{counter::edges, "edges", "edges visited by algorithms that count them"},
    counter_info{counter::lookups, "lookups",
                 "owner lookups made to address messages, with several ranks"},
    counter_info{counter::operators, "operators", "operators run to their end, once per message"},
    counter_info{counter::operators_failed, "operators_failed",
                 "operators that decided to change nothing"},
    counter_info{counter::answers, "answers",
                 "answers of fire-and-return operators, run where their messages were spawned"},
    counter_info{counter::activities, "activities",
                 "activities that transactions committed; by other mechanisms operators"},
    counter_info{counter::attempts, "attempts", "transactions begun, in hardware or software"},
    counter_info{counter::aborts_conflict, "aborts_conflict",
                 "aborts because another core accessed the transaction's memory"},
    counter_info{counter::aborts_capacity, "aborts_capacity",
                 "aborts because the transaction exceeded the hardware's capacity"},
    counter_info{counter::aborts_explicit, "aborts_explicit",
                 "aborts by the runtime, or because the fallback lock was taken"},
    counter_info{counter::aborts_other, "aborts_other",
                 "aborts by a page fault, an interrupt, or an instruction not allowed inside"},
    counter_info{counter::fallbacks, "fallbacks",
                 "groups that another mechanism finished after hardware gave up"},
    counter_info{counter::splits, "splits", "groups split in halves after a capacity abort"},
    counter_info{counter::pretouches, "pretouches",
                 "groups whose memory was touched before the next attempt"},
    counter_info{counter::lock_waits, "lock_waits", "waits for a lock held by another worker"},
    counter_info{counter::requeued, "requeued",
                 "attempts postponed because a transaction over ranks held an element"},
    counter_info{counter::dtx_commits, "dtx_commits", "transactions over ranks that committed"},
    counter_info{counter::dtx_restarts, "dtx_restarts",
                 "restarts of transactions over ranks that missed or were refused an element"},
    counter_info{counter::dtx_refusals, "dtx_refusals",
                 "claims refused because another transaction held the element"},
};

inline constexpr std::size_t num_counters = counter_table.size();

static_assert(
    [] {
      for (std::size_t i = 0; i < num_counters; ++i) {
        if (static_cast<std::size_t>(counter_table[i].id) != i) return false;
      }
      return static_cast<std::size_t>(counter::dtx_refusals) + 1 == num_counters;
    }(),
    "the table has one row per counter, in order");

[[nodiscard]] constexpr std::string_view name(counter c) noexcept {
  return counter_table[static_cast<std::size_t>(c)].name;
}

/// The counters of the workers of one rank. Each worker has its own cache lines.
///
/// Thread-safety: only worker k calls add(k, ...); any thread may read at any time, and sees for
/// each worker and counter a recent value that never decreases.
class counters {
 public:
  explicit counters(int workers)
      : workers_(workers), blocks_(std::make_unique<block[]>(static_cast<std::size_t>(workers))) {}

  [[nodiscard]] int workers() const noexcept { return workers_; }

  /// A plain add on x86: a single writer needs no locked instruction.
  void add(worker_t k, counter c, std::uint64_t n = 1) noexcept {
    auto& cell = at(k, c);
    cell.store(cell.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t of_worker(worker_t k, counter c) const noexcept {
    return at(k, c).load(std::memory_order_relaxed);
  }

  /// Sum over this rank's workers.
  [[nodiscard]] std::uint64_t total(counter c) const noexcept {
    std::uint64_t sum = 0;
    for (worker_t k{0}; k < workers_; ++k) sum += of_worker(k, c);
    return sum;
  }

  /// All totals, by counter.
  [[nodiscard]] std::array<std::uint64_t, num_counters> totals() const noexcept {
    std::array<std::uint64_t, num_counters> sums;
    for (std::size_t i = 0; i < num_counters; ++i) sums[i] = total(static_cast<counter>(i));
    return sums;
  }

 private:
  struct alignas(cache_line) block {
    std::array<std::atomic<std::uint64_t>, num_counters> values{};
  };

  [[nodiscard]] std::atomic<std::uint64_t>& at(worker_t k, counter c) const noexcept {
    return blocks_[static_cast<std::size_t>(k)].values[static_cast<std::size_t>(c)];
  }

  int workers_;
  std::unique_ptr<block[]> blocks_;
};

}  // namespace cairn::obs
