// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <cairn/base/types.hpp>

namespace cairn {

/// When the buffers of a channel may be handled.
///
///   epoch      in the epoch in which they were sent; that epoch's termination counts them
///   standing   at any time between the channel's construction and its destruction; no epoch
///              counts them
enum class channel_kind { epoch, standing };

/// Counts of messages that one worker has sent and handled. One thread writes, any thread reads.
class message_counter {
 public:
  /// Called before the messages can leave.
  void add_sent(std::uint64_t n) noexcept { add(sent_, n); }
  /// Called after the handler, and after the handler's own sends were counted.
  void add_handled(std::uint64_t n) noexcept { add(handled_, n); }
  [[nodiscard]] std::uint64_t sent() const noexcept {
    return sent_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t handled() const noexcept {
    return handled_.load(std::memory_order_acquire);
  }
  /// Called while no worker writes.
  void reset() noexcept {
    sent_.store(0, std::memory_order_relaxed);
    handled_.store(0, std::memory_order_relaxed);
  }

 private:
  // One writer, so no locked instruction. The release orders the handler's writes before the count.
  static void add(std::atomic<std::uint64_t>& count, std::uint64_t n) noexcept {
    count.store(count.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }
  std::atomic<std::uint64_t> sent_{0}, handled_{0};
};

/// Which part-filled buffers to send; `only_old`: those that were part-filled at the previous such
/// call already.
enum class flush_scope { all, only_old };

/// The receiving end of a channel, as core sees it.
class receiver {
 public:
  /// Handles one buffer's payload on worker k; may modify the payload. Runs concurrently with
  /// itself on other workers.
  virtual void deliver(worker_t k, rank_t from, std::span<std::byte> payload) = 0;
  /// Sends worker k's part-filled buffers. Returns whether it sent any. Called by worker k.
  virtual bool flush(worker_t k, flush_scope scope) = 0;
  /// The messages that worker k has sent and handled. Any thread.
  [[nodiscard]] virtual const message_counter& count(worker_t k) const noexcept = 0;
  /// Discards all part-filled buffers and counts, because the epoch was abandoned. Called while no
  /// other worker uses the channel.
  virtual void abandon() noexcept = 0;
  /// Whether its handler may send. Constant once the channel is attached.
  [[nodiscard]] virtual bool sends() const noexcept { return true; }

 protected:
  ~receiver() = default;
};

}  // namespace cairn
