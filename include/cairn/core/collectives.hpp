// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/core/gathered_parts.hpp>

namespace cairn {

/// Gathers every rank's bytes on every rank, in ceil(log2 P) rounds. A fold over the parts in rank
/// order gives the same floating-point sum everywhere.
///
/// A pure state machine: it neither sends nor waits. The caller begins an operation, sends each
/// packet of next_send() to its rank, passes arrivals to receive(), and checks done(). In round k a
/// rank sends the 2^k parts that it holds, its own and those of the ranks above it, to the rank 2^k
/// below it; the last round sends only the missing parts.
///
///   state     left by                       next_send()   receive()
///   idle      begin()                       nothing       keeps packets of the next operation
///   running   the last packet in and out    may send      appends or keeps
///   done      take() or begin()             nothing       keeps packets of the next operation
///
/// Messages  ceil(log2 P) per rank and operation; a packet has 16 bytes, plus 8 and the length for
///           each part
/// Memory    all parts, and packets that arrive early
/// Throws    contract_violation from receive() for a packet that no rank sends: one of another
///           world, a duplicate or a damaged one. The state is then unchanged.
/// Collective: all ranks begin the same operations in the same order.
/// Source    [Bruck97] section 3
class collectives {
 public:
  /// Expects 0 <= self < size.
  collectives(rank_t self, rank_t size);

  /// Starts the next operation with this rank's part. Must not be called while one is running.
  void begin(std::span<const std::byte> mine);

  struct outgoing {
    rank_t to;
    std::vector<std::byte> packet;  ///< contains the operation's number and the round
  };
  /// The next packet to send now, if any. Each is returned once. Packets may be delivered in any
  /// order and with any delay.
  [[nodiscard]] std::optional<outgoing> next_send();

  /// Accepts packets in any order; those of later rounds or of the next operation are kept.
  void receive(rank_t from, std::span<const std::byte> packet);

  /// Whether the current operation is complete on this rank: all parts are in and all packets are
  /// out.
  [[nodiscard]] bool done() const noexcept;

  /// The rank whose packet the current operation needs next, if any.
  [[nodiscard]] std::optional<rank_t> awaited() const noexcept;

  /// All ranks' parts. Requires done(); afterwards no operation is current.
  [[nodiscard]] gathered_parts take();

 private:
  struct packet_view;

  [[nodiscard]] std::size_t parts_in_round(int round) const noexcept;
  [[nodiscard]] rank_t sender_in_round(int round) const noexcept;
  [[nodiscard]] packet_view checked(rank_t from, std::span<const std::byte> packet) const;
  [[nodiscard]] std::vector<std::byte>& kept(std::uint64_t operation, int round);
  void append(const packet_view& view);
  void append_kept();

  rank_t self_, size_;
  int num_rounds_;
  std::uint64_t operation_ = 0;  // number of the current or last operation, from 1
  bool current_ = false;
  int rounds_sent_ = 0, rounds_received_ = 0;
  std::vector<std::byte> held_;         // parts of self, self + 1, ... (mod size), concatenated
  std::vector<std::uint64_t> lengths_;  // of the parts in held_
  // A peer is at most one operation ahead, because an operation cannot end without this rank.
  std::vector<std::vector<std::byte>> kept_;  // [operation parity][round]; empty: none arrived
};

}  // namespace cairn
