// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <cairn/base/types.hpp>

namespace cairn {

/// Every rank's bytes on every rank, in ceil(log2 P) rounds: the one collective that all the
/// others fold. A fold over the parts in rank order gives the same floating sum everywhere.
///
/// A pure machine: it neither sends nor waits. The caller begins an operation, carries each
/// packet of next_send() to its rank, hands arrivals to receive(), and asks done(). In round k
/// a rank passes on the 2^k parts that it holds, its own and those of the ranks above it (the
/// last round only what is missing), to the rank 2^k below it.
///
///   state     left by                       next_send()   receive()
///   idle      begin()                       nothing       keeps what the next operation needs
///   running   the last packet in and out    may send      takes or keeps
///   done      take_parts() or begin()       nothing       keeps what the next operation needs
///
/// Messages  ceil(log2 P) per rank and operation; a packet is 16 bytes, and 8 plus its length
///           for each part
/// Memory    all parts, twice at the end; the room of the largest operation is kept
/// Throws    contract_violation from receive() for what no rank of this machine sends: another
///           world's packet, a twice delivered or damaged one. The state is then as before.
/// Collective: all ranks begin the same operations in the same order.
/// Source    Bruck et al., "Efficient algorithms for all-to-all communications in multiport
///           message-passing systems" (1997), section 3
class collectives {
 public:
  /// Expects 0 <= self < size.
  collectives(rank_t self, rank_t size);

  /// Starts the next operation with this rank's part. Not while one is running.
  void begin(std::span<const std::byte> mine);

  struct outgoing {
    rank_t to;
    std::vector<std::byte> packet;  ///< carries the operation's number and the round
  };
  /// The next packet to send now, if any. Each is returned once; they may be delivered in any
  /// order and with any delay.
  [[nodiscard]] std::optional<outgoing> next_send();

  /// Takes in a packet, in any order; those of later rounds or of the next operation are kept.
  void receive(rank_t from, std::span<const std::byte> packet);

  /// The current operation is complete here: all parts are in and all packets are out.
  [[nodiscard]] bool done() const noexcept;

  /// All ranks' parts, by rank; then no operation is current. Expects done().
  [[nodiscard]] std::vector<std::vector<std::byte>> take_parts();

 private:
  struct packet_view;

  [[nodiscard]] std::size_t parts_in_round(int round) const noexcept;
  [[nodiscard]] packet_view checked(rank_t from, std::span<const std::byte> packet) const;
  [[nodiscard]] std::vector<std::byte>& kept(std::uint64_t operation, int round);
  void append(const packet_view& view);
  void append_kept();

  rank_t self_, size_;
  int num_rounds_;
  std::uint64_t operation_ = 0;  // number of the current or last operation, from 1
  bool current_ = false;
  int rounds_sent_ = 0, rounds_received_ = 0;
  std::vector<std::byte> held_;         // parts of self, self + 1, ... (mod size), end to end
  std::vector<std::uint64_t> lengths_;  // of the parts in held_
  // A peer is at most one operation ahead, because that one cannot end without this rank.
  std::vector<std::vector<std::byte>> kept_;  // [operation parity][round]; empty: none came
};

}  // namespace cairn
