// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include <cairn/base/types.hpp>
#include <cairn/net/packet_steps.hpp>

namespace cairn::net {

/// The only interface to the network: it sends packets and polls for them.
///
/// A packet has at most max_packet() bytes and arrives whole. Packets between one pair of ranks may
/// be reordered (sim does), but are never lost or duplicated. A rank does not send to itself.
///
/// Thread-safety: none; the engine calls from one worker at a time.
class transport {
 public:
  using sink = std::function<void(rank_t from, std::span<const std::byte> packet)>;

  virtual ~transport() = default;
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  [[nodiscard]] virtual rank_t self() const noexcept = 0;
  [[nodiscard]] virtual rank_t size() const noexcept = 0;

  /// Bytes of the largest packet that send() accepts.
  [[nodiscard]] virtual std::size_t max_packet() const noexcept = 0;
  /// Bytes of a packet (header included) for which this transport is most efficient.
  [[nodiscard]] virtual std::size_t best_packet() const noexcept = 0;
  /// The same for packets to one rank: within a machine another network may be used.
  [[nodiscard]] virtual std::size_t best_packet_to(rank_t) const noexcept { return best_packet(); }
  /// The fixed cost of a packet, in bytes of messages whose transfer and handling take as long.
  [[nodiscard]] virtual std::size_t packet_cost() const noexcept {
    return std::max<std::size_t>(128, best_packet() / 64);
  }
  /// The same for packets to one rank.
  [[nodiscard]] virtual std::size_t packet_cost_to(rank_t) const noexcept { return packet_cost(); }
  /// The sizes from which packets to one rank cost more, as far as they are known. Larger messages
  /// than max_packet() travel in pieces.
  [[nodiscard]] virtual const packet_steps& steps_to(rank_t) const noexcept {
    static const packet_steps none;
    return none;
  }

  /// Copies the packet out to `to`, or returns false if there is no room now.
  [[nodiscard]] virtual bool send(rank_t to, std::span<const std::byte> packet) = 0;

  /// Passes each arrived packet (up to some bound) to `deliver`, which may call send() but not
  /// poll(), and must copy what it keeps. Returns the number of packets. An exception of `deliver`
  /// leaves poll(); its packet counts as delivered, and a later poll delivers the others.
  virtual std::size_t poll(const sink& deliver) = 0;

  /// Memory that the transports of all ranks share, for protocols of the runtime: as much on all
  /// ranks, zeroed before the first transports use it, aligned to a cache line. Empty if there is
  /// none.
  [[nodiscard]] virtual std::span<std::byte> common_memory() const noexcept { return {}; }

  /// Whether no packet accepted by send() still waits inside this rank.
  [[nodiscard]] virtual bool flushed() { return true; }
};

}  // namespace cairn::net
