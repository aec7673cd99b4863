// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <cairn/net/segment.hpp>
#include <cairn/net/transport.hpp>

namespace cairn::net {

/// One bounded ring of bytes per ordered pair of ranks, laid out in a segment.
///
/// A ring has one writer and one reader. It holds records, each on its own cache lines. The
/// writer's and the reader's index have their own lines, so a packet costs the coherence misses of
/// its bytes and of one index. Zeroed memory is a set of empty rings.
///
/// Memory    ranks^2 rings of 256 KiB; smaller beyond 16 ranks (64 MiB in all), but at least 32 KiB
///           each. An unused ring is never touched. common_memory() has 512 bytes per rank
class ring_fabric {
 public:
  /// Bytes of a segment for this number of ranks.
  [[nodiscard]] static std::size_t bytes_needed(rank_t ranks);

  /// Rings in a segment that all ranks share.
  ring_fabric(std::shared_ptr<segment> memory, rank_t ranks);
  /// Rings for ranks that are threads of this process.
  explicit ring_fabric(rank_t ranks);
  /// Rings of `ring_bytes` each, a power of two, at least 1024. For tests that fill them.
  ring_fabric(rank_t ranks, std::size_t ring_bytes);

  [[nodiscard]] rank_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::size_t ring_bytes() const noexcept { return ring_bytes_; }

 private:
  friend class ring_transport;
  // The total bytes written and taken by the pair, and the ring's bytes.
  [[nodiscard]] std::uint64_t& written(rank_t from, rank_t to) const noexcept;
  [[nodiscard]] std::uint64_t& taken(rank_t from, rank_t to) const noexcept;
  [[nodiscard]] std::byte* bytes(rank_t from, rank_t to) const noexcept;
  [[nodiscard]] std::span<std::byte> common_memory() const noexcept;

  std::shared_ptr<segment> memory_;
  rank_t ranks_;
  std::size_t ring_bytes_;
};

/// The transport of one rank over rings; packets between a pair arrive in order.
///
/// max_packet() is a quarter of a ring. poll() costs one load per silent peer.
class ring_transport final : public transport {
 public:
  ring_transport(std::shared_ptr<const ring_fabric> fabric, rank_t self);

  [[nodiscard]] rank_t self() const noexcept override { return self_; }
  [[nodiscard]] rank_t size() const noexcept override { return fabric_->ranks(); }
  [[nodiscard]] std::size_t max_packet() const noexcept override;
  [[nodiscard]] std::size_t best_packet() const noexcept override;
  [[nodiscard]] const packet_steps& steps_to(rank_t) const noexcept override;
  [[nodiscard]] bool send(rank_t to, std::span<const std::byte> packet) override;
  std::size_t poll(const sink& deliver) override;
  [[nodiscard]] std::span<std::byte> common_memory() const noexcept override {
    return fabric_->common_memory();
  }

 private:
  struct writing {
    std::byte* bytes = nullptr;
    std::uint64_t* written = nullptr;
    std::uint64_t* taken = nullptr;
    std::uint64_t at = 0;          // this rank's index
    std::uint64_t taken_seen = 0;  // the reader's index when last read
  };
  struct reading {
    std::byte* bytes = nullptr;
    std::uint64_t* written = nullptr;
    std::uint64_t* taken = nullptr;
    std::uint64_t at = 0;
  };

  std::size_t read(rank_t from, const sink& deliver);

  std::shared_ptr<const ring_fabric> fabric_;
  rank_t self_;
  std::uint64_t mask_;
  std::vector<writing> out_;
  std::vector<reading> in_;
  rank_t first_ = 0;  // where the next poll begins; rotates, so that no peer is always last
};

}  // namespace cairn::net
