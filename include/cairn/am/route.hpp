// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cairn/base/types.hpp>
#include <cairn/core/routing.hpp>

namespace cairn::am {

/// The next hops of one rank: through which ranks a message travels. P ranks on M machines:
///
///   scheme      hops               next hops of a rank            path
///   direct,     1                  P - 1
///   automatic
///   grid        2                  at most 2.2 sqrt(P)            along the row, then the column
///   hypercube   ceil(log2 P)       ceil(log2 P)                   one bit after the other
///   machine     3, one of them     the ranks of its machine, and  to the own machine's rank for
///               between machines   M / (ranks on a machine)       the other machine, to that
///                                                                 machine's rank for ours, to the
///                                                                 destination
///
/// Fewer next hops mean fewer blocks to fill, and fuller buffers. Each hop handles a message once
/// more, and also combines messages that the ranks before it could not.
///
/// grid        A row is 2^s consecutive ranks, with s such that a rank has the fewest next hops. If
///             the last row is too short for the hop in the destination's column, a message goes
///             along its own column first.
/// hypercube   The next hop changes the lowest differing bit whose change gives an existing rank.
///             Such a bit always exists: clearing a bit gives a lower rank, and if all differing
///             bits are to be set, each intermediate rank is at most the destination.
/// machine     All messages from one machine to another pass through one pair of ranks. So they are
///             combined before they cross the network, and they cross it once and in the fewest
///             buffers. The two additional hops stay in the memory of a machine. With one rank per
///             machine this is direct.
///
/// A pure function of scheme, rank, number of ranks and machine map, the same on all ranks. Every
/// hop leads closer to the destination, so messages never cycle. With `grid` and `hypercube`, a
/// hop's number differs from the destination's in fewer bits than this rank's number does. So
/// messages do not cycle even if each rank uses one of these schemes or `direct` for each message.
///
/// Memory    with `machine` 8 bytes per rank and machine, else nothing
class route {
 public:
  /// machine_of   the machine of each rank, from 0 to below `size`; read only for the scheme
  ///              `machine`
  ///
  /// Throws    contract_violation unless 0 <= self < size and `machine_of` fits
  route(routing scheme, rank_t self, rank_t size, std::span<const int> machine_of = {});

  /// The scheme; `direct` if `automatic` was given.
  [[nodiscard]] routing scheme() const noexcept { return scheme_; }
  [[nodiscard]] rank_t self() const noexcept { return self_; }

  /// The rank to which this rank sends a message for rank `to`: `to` itself, or a rank that
  /// forwards it. The own rank for the own rank.
  [[nodiscard]] rank_t next_hop(rank_t to) const noexcept {
    switch (scheme_) {
      case routing::grid:
        return grid_hop(to);
      case routing::hypercube:
        return hypercube_hop(to);
      case routing::machine:
        return machine_hop(to);
      default:
        return to;
    }
  }

  /// The ranks that this rank sends to, ascending. O(P).
  [[nodiscard]] std::vector<rank_t> next_hops() const;

  /// Hops of the longest path that the scheme allows: the bounds of the table above.
  [[nodiscard]] int max_hops() const noexcept;

 private:
  [[nodiscard]] rank_t grid_hop(rank_t to) const noexcept {
    const auto column = (rank_t{1} << column_bits_) - 1;
    const auto in_row = (self_ & ~column) | (to & column);
    if (in_row == self_) return to;
    return in_row < size_ ? in_row : (to & ~column) | (self_ & column);
  }
  [[nodiscard]] rank_t hypercube_hop(rank_t to) const noexcept {
    for (auto bits = self_ ^ to; bits != 0; bits &= bits - 1) {
      const auto hop = self_ ^ (bits & -bits);
      if (hop < size_) return hop;
    }
    return self_;
  }
  [[nodiscard]] rank_t machine_hop(rank_t to) const noexcept {
    const auto hop =
        towards_machine_[static_cast<std::size_t>(machine_of_[static_cast<std::size_t>(to)])];
    return hop < 0 ? to : hop;
  }

  routing scheme_;
  rank_t self_, size_;
  int column_bits_ = 0;
  std::vector<int> machine_of_;
  std::vector<rank_t> towards_machine_;  // -1: this rank's machine
};

/// Moves the messages for rank `self` to the front of `received`, in their order, and returns them;
/// passes each other one to forward(destination, message). A hop does this with the messages that
/// arrive.
///
/// destination   (message) -> rank_t
/// Cost          nothing is moved while all messages are for this rank. No branch depends on a
///               message, because it would be unpredictable.
template <class Message, class Destination, class Forward>
[[nodiscard]] std::span<Message> keep_own(rank_t self, std::span<Message> received,
                                          Destination&& destination, Forward&& forward) {
  constexpr std::size_t max_part = 128;
  std::array<std::uint8_t, max_part> own, others;
  std::size_t kept = 0;
  for (std::size_t begin = 0; begin < received.size(); begin += max_part) {
    const auto part = received.subspan(begin, std::min(max_part, received.size() - begin));
    std::size_t num_own = 0, num_others = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const bool is_own = destination(std::as_const(part[i])) == self;
      own[num_own] = others[num_others] = static_cast<std::uint8_t>(i);
      num_own += is_own;
      num_others += !is_own;
    }
    for (std::size_t i = 0; i < num_others; ++i) {
      const auto& m = std::as_const(part[others[i]]);
      forward(destination(m), m);
    }
    if (kept == begin && num_others == 0) {
      kept += num_own;
    } else {
      for (std::size_t i = 0; i < num_own; ++i) received[kept++] = part[own[i]];
    }
  }
  return received.first(kept);
}

}  // namespace cairn::am
