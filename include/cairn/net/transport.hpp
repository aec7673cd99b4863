// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <cairn/base/types.hpp>

namespace cairn::net {

/// The only door to the network: it sends packets and polls for them, nothing else.
///
/// A packet is at most max_packet() bytes and arrives whole. Packets between one pair of
/// ranks may be reordered (sim does), are never lost and never doubled. A rank does not send
/// to itself.
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

  /// Bytes of the largest packet that send() takes.
  [[nodiscard]] virtual std::size_t max_packet() const noexcept = 0;
  /// Bytes of a packet that this transport likes best (header included).
  [[nodiscard]] virtual std::size_t best_packet() const noexcept = 0;

  /// Copies the packet out towards `to`, or returns false if there is no room now.
  [[nodiscard]] virtual bool send(rank_t to, std::span<const std::byte> packet) = 0;

  /// Hands each packet that has come (up to some bound) to `deliver`, which must not call
  /// back into the transport and must copy what it keeps. Returns how many. What `deliver`
  /// throws leaves poll(); its packet counts as delivered, and a later poll brings the others.
  virtual std::size_t poll(const sink& deliver) = 0;

  /// True if nothing that send() took is still waiting inside this rank.
  [[nodiscard]] virtual bool flushed() { return true; }
};

}  // namespace cairn::net
