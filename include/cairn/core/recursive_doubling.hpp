// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <cairn/base/types.hpp>

namespace cairn {

/// Combines one value per rank into one result on every rank, in ceil(log2 P) rounds.
///
/// The shape is fixed, so every rank gets the same bits in every run with the same number of ranks.
/// Let 2^K be the largest power of two that is at most P. First, rank 2^K + i sends its value to
/// rank i, which combines the two. Then, in round k = 0 .. K-1, each rank r < 2^K exchanges its
/// partial result with rank r xor 2^k; both combine the two, the lower rank's first. Finally, rank
/// i sends the result to rank 2^K + i.
///
/// A pure state machine: it neither sends nor waits. The caller begins an operation, sends each
/// packet of next_send() to its rank, passes arrivals to receive(), and checks done().
///
///   state     left by                       next_send()   receive()
///   idle      begin()                       nothing       keeps packets of the next operation
///   running   the last packet in and out    may send      combines or keeps
///   done      take() or begin()             nothing       keeps packets of the next operation
///
/// A rank completes an operation only after every rank has begun it, because the result contains
/// every rank's value. So a packet belongs to the receiver's current operation or to the next.
///
/// Values    bytes of any length, which may differ between ranks; at most 2^56 - 1 each
/// Rounds    K, plus two if P is not a power of two
/// Messages  at most K + 1 per rank and operation; a packet has 16 bytes and the value
/// Memory    two values, and one for each early packet (at most 2 K + 1); the capacity is kept, so
///           operations allocate nothing once the largest values have been seen
/// Throws    contract_violation from receive() for a packet that no rank sends: one of another
///           operation, a duplicate or a damaged one. begin(), next_send() and receive() throw what
///           `combine` throws; receive() then leaves the state unchanged.
/// Collective: all ranks begin the same operations in the same order.
/// Source    [Thakur05] section 4.5; there the fold pairs neighbors
class recursive_doubling {
 public:
  /// Appends the combination of two values to `result` and changes nothing else in it. The values
  /// may be unaligned. `lower` is the lower rank's value.
  using combine_function = void (*)(std::span<const std::byte> lower,
                                    std::span<const std::byte> higher,
                                    std::vector<std::byte>& result);

  /// Expects 0 <= self < size.
  recursive_doubling(rank_t self, rank_t size);

  /// Starts the next operation with this rank's value. All ranks pass the same function. Must not
  /// be called while an operation is running.
  void begin(std::span<const std::byte> mine, combine_function combine);

  struct outgoing {
    rank_t to;
    std::span<const std::byte> packet;  ///< valid until the next non-const call
  };
  /// The next packet to send now, if any. Each is returned once. Packets may be delivered in any
  /// order and with any delay.
  [[nodiscard]] std::optional<outgoing> next_send();

  /// Accepts packets in any order; those of later rounds or of the next operation are kept.
  void receive(rank_t from, std::span<const std::byte> packet);

  /// Whether the current operation is complete on this rank: the result is known and all packets
  /// are out.
  [[nodiscard]] bool done() const noexcept { return current_ && step_ == num_steps_; }

  /// The rank whose packet the current operation needs next, if any.
  [[nodiscard]] std::optional<rank_t> awaited() const noexcept;

  /// The result, valid until the next begin(). Requires done(); afterwards no operation is current.
  [[nodiscard]] std::span<const std::byte> take();

 private:
  // The steps of an operation: 0 folds in, 1 .. K are the rounds, K + 1 distributes the result. In
  // a step a rank sends, receives, does both, or takes no part.
  struct step {
    rank_t peer = 0;
    bool sends = false, receives = false;
  };
  using bytes = std::vector<std::byte>;

  [[nodiscard]] step step_at(int i) const noexcept;
  [[nodiscard]] bytes& kept(std::uint64_t operation, int i) noexcept;
  void check(rank_t from, std::span<const std::byte> packet);
  void combine_with(const step& s, std::span<const std::byte> packet);
  void skip_inactive_steps() noexcept;
  void advance() noexcept;

  rank_t self_, size_;
  int num_steps_;
  std::uint64_t operation_ = 0;  // number of the current or last operation, from 1
  bool current_ = false;
  int step_ = 0;
  bool sent_ = false;  // the packet of this step was returned
  combine_function combine_ = nullptr;
  bytes held_;               // space for a header, then this rank's partial result
  bytes combined_;           // the next held_; until then the packet that was returned last
  std::vector<bytes> kept_;  // [operation parity][step]; empty: none arrived
};

/// A combine_function: adds 64-bit words, as many in both values.
void add_words(std::span<const std::byte> lower, std::span<const std::byte> higher,
               std::vector<std::byte>& result);

}  // namespace cairn
