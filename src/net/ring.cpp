// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/net/ring.hpp>

namespace cairn::net {
namespace {

// Two lines, because processors prefetch lines in pairs.
constexpr std::size_t index_stride = 2 * cache_line;
// A record begins on a cache line: its length, then the packet, aligned to 16 bytes.
constexpr std::size_t record_header = 16;
constexpr std::uint32_t skip_to_start = 0xffffffffu;

constexpr std::size_t largest_ring = 256u << 10;
constexpr std::size_t smallest_ring = 32u << 10;
constexpr std::size_t all_rings = 64u << 20;
constexpr std::size_t common_bytes_of_rank = 512;

constexpr std::size_t record_bytes(std::size_t packet) noexcept {
  return (record_header + packet + cache_line - 1) / cache_line * cache_line;
}

std::size_t pairs(rank_t ranks) noexcept {
  return static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
}

std::size_t ring_bytes_for(rank_t ranks) noexcept {
  return std::clamp(std::bit_floor(all_rings / pairs(ranks)), smallest_ring, largest_ring);
}

std::size_t fabric_bytes(rank_t ranks, std::size_t ring_bytes) noexcept {
  return pairs(ranks) * (2 * index_stride + ring_bytes) +
         static_cast<std::size_t>(ranks) * common_bytes_of_rank;
}

std::uint64_t load(std::uint64_t* index, std::memory_order order) noexcept {
  return std::atomic_ref(*index).load(order);
}
void publish(std::uint64_t* index, std::uint64_t value) noexcept {
  std::atomic_ref(*index).store(value, std::memory_order_release);
}

}  // namespace

std::size_t ring_fabric::bytes_needed(rank_t ranks) {
  CAIRN_EXPECTS(ranks >= 1);
  return fabric_bytes(ranks, ring_bytes_for(ranks));
}

ring_fabric::ring_fabric(std::shared_ptr<segment> memory, rank_t ranks)
    : memory_(std::move(memory)), ranks_(ranks), ring_bytes_(ring_bytes_for(ranks)) {
  CAIRN_EXPECTS(memory_->size() >= bytes_needed(ranks));
}

ring_fabric::ring_fabric(rank_t ranks)
    : ring_fabric(segment::on_heap(bytes_needed(ranks)), ranks) {}

ring_fabric::ring_fabric(rank_t ranks, std::size_t ring_bytes)
    : memory_(segment::on_heap(fabric_bytes(ranks, ring_bytes))),
      ranks_(ranks),
      ring_bytes_(ring_bytes) {
  CAIRN_EXPECTS(std::has_single_bit(ring_bytes) && ring_bytes >= 1024);
}

// The indices written for one reader are adjacent, and so are those taken for one writer, because
// each rank scans its own.
std::uint64_t& ring_fabric::written(rank_t from, rank_t to) const noexcept {
  const auto i = static_cast<std::size_t>(to) * static_cast<std::size_t>(ranks_) + from;
  return *reinterpret_cast<std::uint64_t*>(memory_->data() + i * index_stride);
}

std::uint64_t& ring_fabric::taken(rank_t from, rank_t to) const noexcept {
  const auto i = static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) + to;
  return *reinterpret_cast<std::uint64_t*>(memory_->data() + (pairs(ranks_) + i) * index_stride);
}

std::byte* ring_fabric::bytes(rank_t from, rank_t to) const noexcept {
  const auto i = static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) + to;
  return memory_->data() + 2 * pairs(ranks_) * index_stride + i * ring_bytes_;
}

std::span<std::byte> ring_fabric::common_memory() const noexcept {
  const auto rings = pairs(ranks_) * (2 * index_stride + ring_bytes_);
  return {memory_->data() + rings, static_cast<std::size_t>(ranks_) * common_bytes_of_rank};
}

ring_transport::ring_transport(std::shared_ptr<const ring_fabric> fabric, rank_t self)
    : fabric_(std::move(fabric)), self_(self), mask_(fabric_->ring_bytes() - 1) {
  CAIRN_EXPECTS(0 <= self && self < fabric_->ranks());
  for (rank_t r = 0; r < size(); ++r) {
    auto* const written = &fabric_->written(self, r);
    auto* const taken = &fabric_->taken(self, r);
    // The indices may be nonzero: an earlier transport of this rank may have used the rings.
    out_.push_back({fabric_->bytes(self, r), written, taken,
                    load(written, std::memory_order_relaxed),
                    load(taken, std::memory_order_acquire)});
    auto* const done = &fabric_->taken(r, self);
    in_.push_back({fabric_->bytes(r, self), &fabric_->written(r, self), done,
                   load(done, std::memory_order_relaxed)});
  }
}

std::size_t ring_transport::max_packet() const noexcept {
  return fabric_->ring_bytes() / 4 - record_header;
}

// Throughput is flat from 4 KiB on (docs/net.md), so the choice is for room in the ring and
// latency.
std::size_t ring_transport::best_packet() const noexcept {
  return std::min<std::size_t>(max_packet(), 8u << 10);
}

const packet_steps& ring_transport::steps_to(rank_t) const noexcept {
  static const packet_steps whole_lines({}, {.bytes = cache_line, .header = record_header});
  return whole_lines;
}

bool ring_transport::send(rank_t to, std::span<const std::byte> packet) {
  CAIRN_EXPECTS(packet.size() <= max_packet());
  CAIRN_ASSERT(to != self_);
  auto& out = out_[static_cast<std::size_t>(to)];
  const auto record = record_bytes(packet.size());
  const auto offset = out.at & mask_;
  const auto to_end = fabric_->ring_bytes() - offset;
  // A record is never split. Both parts are at most a quarter, so an empty ring always has room.
  const auto skip = to_end < record ? to_end : 0;
  const auto after = out.at + skip + record;
  if (after - out.taken_seen > fabric_->ring_bytes()) {
    out.taken_seen = load(out.taken, std::memory_order_acquire);
    if (after - out.taken_seen > fabric_->ring_bytes()) return false;
  }
  auto* at = out.bytes + offset;
  if (skip != 0) {
    std::memcpy(at, &skip_to_start, sizeof skip_to_start);
    at = out.bytes;
  }
  const auto length = static_cast<std::uint32_t>(packet.size());
  std::memcpy(at, &length, sizeof length);
  if (length != 0) std::memcpy(at + record_header, packet.data(), length);
  out.at = after;
  publish(out.written, after);
  return true;
}

std::size_t ring_transport::read(rank_t from, const sink& deliver) {
  auto& in = in_[static_cast<std::size_t>(from)];
  const auto end = load(in.written, std::memory_order_acquire);
  if (in.at == end) return 0;
  std::size_t packets = 0;
  // The reader publishes free room in quarters, because each update costs both sides a coherence
  // miss.
  const auto quarter = fabric_->ring_bytes() / 4;
  auto published = in.at;
  try {
    while (in.at != end) {
      const auto* const at = in.bytes + (in.at & mask_);
      std::uint32_t length = 0;
      std::memcpy(&length, at, sizeof length);
      if (length == skip_to_start) {
        in.at = (in.at | mask_) + 1;
        continue;
      }
      in.at += record_bytes(length);
      deliver(from, {at + record_header, length});
      ++packets;
      if (in.at - published >= quarter) {
        published = in.at;
        publish(in.taken, published);
      }
    }
  } catch (...) {
    publish(in.taken, in.at);  // a full ring gets no later packet that would publish this
    throw;
  }
  if (in.at != published) publish(in.taken, in.at);
  return packets;
}

std::size_t ring_transport::poll(const sink& deliver) {
  std::size_t packets = 0;
  for (rank_t i = 0, from = first_; i < size(); ++i) {
    if (from != self_) packets += read(from, deliver);
    if (++from == size()) from = 0;
  }
  if (++first_ == size()) first_ = 0;
  return packets;
}

}  // namespace cairn::net
