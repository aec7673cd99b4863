// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace cairn::am {

/// Decides whether the blocks that leave part-filled at one moment go to their destinations or
/// through hops, where messages of several ranks share buffers.
///
/// With n such blocks and h hops towards them, hops save this rank n - h buffers. The hops then
/// forward the messages, in q buffers for each block that was joined: q is 1 if a hop has no other
/// messages for the same destination at that time, and less if it has some. So hops save (1 - q)
/// (n - h) buffers in all. They transfer the messages that are not for the hops themselves once
/// more, and delay them. Hops are used if the buffers cost more than the transfers and the delay.
///
/// n, h and the bytes are known. q is measured: each rank is a hop of others, and counts how many
/// of the destinations that it forwards to had no messages waiting here. While no rank uses hops,
/// nothing is measured. Then the estimate returns to its first value, so that hops that pay by that
/// are tried again.
///
/// A pure state machine of one worker. Ranks need not agree, because a message may go directly from
/// any rank, and each hop is nearer to its destination (route.hpp).
class hop_choice {
 public:
  struct unsent_blocks {
    std::size_t blocks = 0;        ///< part-filled ones
    std::size_t hops = 0;          ///< ranks to which they go along the route
    std::size_t detour_bytes = 0;  ///< of messages that are not for those ranks themselves
  };

  /// Whether the blocks go through hops. buffer_bytes: bytes whose transfer costs as much as a
  /// buffer.
  [[nodiscard]] bool through_hops(const unsent_blocks& l, std::size_t buffer_bytes) noexcept;

  /// Ranks to which a hop forwarded messages of one buffer; for `opened` of them no other message
  /// waited there.
  struct forwarded_buffer {
    std::size_t destinations;  ///< at least 1
    std::size_t opened;
  };
  void forwarded(const forwarded_buffer& by_this_rank) noexcept;

  /// Estimated buffers that hops send for each block that was joined.
  [[nodiscard]] double opened() const noexcept { return opened_; }

 private:
  static constexpr double first_opened = 0.5;
  double opened_ = first_opened;
};

/// The buffer_bytes of a transport with this packet_cost(): the receiver pays for a buffer, too.
/// With half or twice as many, pushed PageRank takes 1.06 or 1.2 times as long on some of 32 to 128
/// simulated ranks.
[[nodiscard]] constexpr std::size_t buffer_cost(std::size_t packet_cost) noexcept {
  return 8 * packet_cost;
}

}  // namespace cairn::am
