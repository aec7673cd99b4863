// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <cairn/base/types.hpp>

namespace cairn {

/// One value combined of those of all ranks, on every rank, in ceil(log2 P) rounds.
///
/// The shape is fixed, so every rank gets the same bits in every run with as many ranks. Let 2^K
/// be the largest power of two that is at most P. Rank 2^K + i first sends its value to rank i,
/// which combines the two. Then in round k = 0 .. K-1 each rank r < 2^K exchanges what it has
/// with rank r xor 2^k; both combine the two, the lower rank's first. At last rank i sends the
/// result to rank 2^K + i.
///
/// A pure machine: it neither sends nor waits. The caller begins an operation, carries each
/// packet of next_send() to its rank, hands arrivals to receive(), and asks done().
///
///   state     left by                       next_send()   receive()
///   idle      begin()                       nothing       keeps what the next operation needs
///   running   the last packet in and out    may send      combines or keeps
///   done      take() or begin()             nothing       keeps what the next operation needs
///
/// A rank ends an operation only after every rank has begun it, because the result contains
/// every rank's value. So a packet belongs to the receiver's current operation or to the next.
///
/// Values    bytes of any length, which may differ between ranks; at most 2^56 - 1 each
/// Rounds    K, and two more if P is no power of two
/// Messages  at most K + 1 per rank and operation; a packet is 16 bytes and the value
/// Memory    two values, and one for each packet that came early (at most 2 K + 1); their room is
///           kept, so that operations allocate nothing once the largest values have been seen
/// Throws    contract_violation from receive() for what no rank of this machine sends: a packet
///           of another operation, a packet delivered twice, a damaged one. begin(), next_send()
///           and receive() throw what `combine` throws. receive() then leaves the state as it was.
/// Collective: all ranks begin the same operations in the same order.
/// Source    [Thakur05] section 4.5; there the fold pairs neighbours
class recursive_doubling {
 public:
  /// Appends the combination of two values to `result`, and changes nothing else of it. The
  /// values' bytes need not be aligned. `lower` is the lower rank's.
  using combine_function = void (*)(std::span<const std::byte> lower,
                                    std::span<const std::byte> higher,
                                    std::vector<std::byte>& result);

  /// Expects 0 <= self < size.
  recursive_doubling(rank_t self, rank_t size);

  /// Starts the next operation with this rank's value. All ranks pass the same function. Not
  /// while an operation is running.
  void begin(std::span<const std::byte> mine, combine_function combine);

  struct outgoing {
    rank_t to;
    std::span<const std::byte> packet;  ///< valid until the next call that is not const
  };
  /// The next packet to send now, if any. Each is returned once; they may be delivered in any
  /// order and with any delay.
  [[nodiscard]] std::optional<outgoing> next_send();

  /// Takes in a packet, in any order; one of a later round or of the next operation is kept.
  void receive(rank_t from, std::span<const std::byte> packet);

  /// The current operation is complete here: the result is known and all packets are out.
  [[nodiscard]] bool done() const noexcept { return current_ && step_ == num_steps_; }

  /// The result; then no operation is current. Expects done(). Valid until the next begin().
  [[nodiscard]] std::span<const std::byte> take();

 private:
  // The steps of an operation: 0 folds in, 1 .. K are the rounds, K + 1 tells the result. A step
  // sends, receives, does both, or is not this rank's.
  struct step {
    rank_t peer = 0;
    bool sends = false, receives = false;
  };
  using bytes = std::vector<std::byte>;

  [[nodiscard]] step step_at(int i) const noexcept;
  [[nodiscard]] bytes& kept(std::uint64_t operation, int i) noexcept;
  void check(rank_t from, std::span<const std::byte> packet);
  void combine_with(const step& s, std::span<const std::byte> packet);
  void pass_over_foreign_steps() noexcept;
  void advance() noexcept;

  rank_t self_, size_;
  int num_steps_;
  std::uint64_t operation_ = 0;  // number of the current or last operation, from 1
  bool current_ = false;
  int step_ = 0;
  bool sent_ = false;  // the packet of this step is out
  combine_function combine_ = nullptr;
  bytes held_;               // room for a header, then what this rank has combined so far
  bytes combined_;           // the next held_; meanwhile the packet that was returned last
  std::vector<bytes> kept_;  // [operation parity][step]; empty: none came
};

}  // namespace cairn
