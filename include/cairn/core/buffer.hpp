// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <cairn/base/types.hpp>

namespace cairn {

/// What a packet belongs to: a channel, one of the runtime's own protocols, or several channels,
/// whose blocks a communication server has joined.
enum class packet_kind : std::uint8_t { channel, gather, reduce, poison, cancel, bundle };
[[nodiscard]] constexpr std::string_view name(packet_kind kind) noexcept {
  constexpr std::string_view names[] = {"channel", "gather", "reduce",
                                        "poison",  "cancel", "bundle"};
  return names[static_cast<std::size_t>(kind)];
}

/// The header before the payload of every packet.
struct packet_header {
  static constexpr std::uint64_t max_epoch = (std::uint64_t{1} << 48) - 1;

  std::uint16_t world = 0;
  packet_kind kind = packet_kind::channel;
  bool fragment = false;            ///< part of a larger payload; a fragment_header follows
  std::uint32_t number = 0;         ///< the channel; otherwise the generation of the collectives
  std::uint64_t epoch : 48 = 0;     ///< 0 for a standing channel
  std::uint64_t sequence : 16 = 0;  ///< in a traced world: see obs::trace_record
};
static_assert(sizeof(packet_header) == 16);

/// One coalesced buffer: space for a header, then payload aligned to 16 bytes. Move-only.
class buffer {
 public:
  buffer() = default;
  explicit buffer(std::size_t payload_capacity)
      : bytes_(new std::byte[sizeof(packet_header) + payload_capacity]),
        capacity_(payload_capacity) {}

  [[nodiscard]] std::byte* payload() noexcept { return bytes_.get() + sizeof(packet_header); }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void set_size(std::size_t payload_bytes) noexcept { size_ = payload_bytes; }

  [[nodiscard]] packet_header& header() noexcept {
    return *reinterpret_cast<packet_header*>(bytes_.get());
  }
  [[nodiscard]] std::span<std::byte> packet() noexcept {
    return {bytes_.get(), sizeof(packet_header) + size_};
  }
  [[nodiscard]] explicit operator bool() const noexcept { return bytes_ != nullptr; }

  rank_t from = 0;  ///< the sender of a received buffer

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t capacity_ = 0, size_ = 0;
};

}  // namespace cairn
