// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/core/receiver.hpp>

namespace cairn {

/// A collective that this rank has begun and not completed.
struct pending_collective {
  bool is_gather = false;         ///< else a reduction, of which termination waves are one kind
  std::uint64_t number = 0;       ///< collectives begun since the start or the last cancellation
  std::optional<rank_t> awaited;  ///< a rank that has not sent its part; none: the result is known
};

/// The current work of one rank of a world, read while its workers run. Each number is correct, but
/// the numbers may belong to slightly different moments.
struct progress_snapshot {
  struct channel {
    std::uint32_t number = 0;
    channel_kind kind = channel_kind::epoch;
    std::string name = {};
    std::uint64_t sent = 0, handled = 0;
  };

  /// Number of chunks of loops, handled buffers, opened epochs, collectives, and waves whose counts
  /// differ from the wave before. If it stays the same, the rank makes no progress or is inside one
  /// long piece of work.
  std::uint64_t steps = 0;
  std::uint64_t epoch = 0;  ///< number of the last epoch
  bool epoch_open = false;
  std::uint64_t waves_sent = 0, waves_handled = 0;  ///< over all ranks, as the last wave counted
  std::vector<channel> channels;
  std::uint64_t held = 0, released = 0;  ///< of the epoch
  std::size_t block_bytes = 0;           ///< in part-filled buffers and in tables
  std::size_t inbox_bytes = 0;           ///< of messages without a handler yet
  std::size_t outbox_bytes = 0;          ///< of messages without room in the network
  std::optional<pending_collective> collective;
  std::vector<worker_t> in_handler;  ///< workers that run a handler
  bool stopping = false, poisoned = false;

  /// The report as several lines, without a final newline; the first names the epoch and the
  /// collective.
  [[nodiscard]] std::string text() const;
};

}  // namespace cairn
