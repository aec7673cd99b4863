// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/core/collectives.hpp>

namespace cairn {
namespace {

// The parts' lengths (8 bytes each) and the parts follow, in rank order.
struct gather_header {
  std::uint64_t operation;
  std::uint32_t round;
  std::uint32_t num_parts;
};
static_assert(sizeof(gather_header) == 16);

// The packets of a transport may be unaligned.
template <class T>
T read(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// resize() would first write zeros.
void append_to(std::vector<std::byte>& bytes, const void* from, std::size_t n) {
  const auto* const at = static_cast<const std::byte*>(from);
  bytes.insert(bytes.end(), at, at + n);
}

std::size_t slot(std::uint64_t operation, int round, int num_rounds) {
  return static_cast<std::size_t>(operation % 2) * static_cast<std::size_t>(num_rounds) +
         static_cast<std::size_t>(round);
}

}  // namespace

struct collectives::packet_view {
  std::uint64_t operation;
  int round;
  std::span<const std::byte> lengths, parts;
};

collectives::collectives(rank_t self, rank_t size)
    : self_(self),
      size_(size),
      num_rounds_(size > 1 ? std::bit_width(static_cast<std::uint32_t>(size - 1)) : 0),
      kept_(2 * static_cast<std::size_t>(num_rounds_)) {
  CAIRN_EXPECTS(0 <= self && self < size);
}

// A rank holds 2^k parts before round k; in the last round fewer may be missing.
std::size_t collectives::parts_in_round(int round) const noexcept {
  const auto held = std::size_t{1} << round;
  return std::min(held, static_cast<std::size_t>(size_) - held);
}

void collectives::begin(std::span<const std::byte> mine) {
  CAIRN_EXPECTS(!current_ || done(), "an operation is running");
  ++operation_;
  current_ = true;
  rounds_sent_ = rounds_received_ = 0;
  held_.assign(mine.begin(), mine.end());
  lengths_.assign(1, mine.size());
  append_kept();
}

std::optional<collectives::outgoing> collectives::next_send() {
  // The parts that a round sends are complete once all earlier rounds have arrived.
  if (!current_ || rounds_sent_ == num_rounds_ || rounds_sent_ > rounds_received_) return {};
  const auto round = rounds_sent_++;
  const gather_header header{operation_, static_cast<std::uint32_t>(round),
                             static_cast<std::uint32_t>(parts_in_round(round))};
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < header.num_parts; ++i) bytes += lengths_[i];

  const auto below = self_ - (rank_t{1} << round);
  outgoing out{below < 0 ? below + size_ : below, {}};
  out.packet.reserve(sizeof header + header.num_parts * sizeof(std::uint64_t) + bytes);
  append_to(out.packet, &header, sizeof header);
  append_to(out.packet, lengths_.data(), header.num_parts * sizeof(std::uint64_t));
  append_to(out.packet, held_.data(), bytes);
  return out;
}

collectives::packet_view collectives::checked(rank_t from,
                                              std::span<const std::byte> packet) const {
  CAIRN_EXPECTS(packet.size() >= sizeof(gather_header), "truncated packet");
  const auto header = read<gather_header>(packet, 0);
  const auto rounds_done = current_ ? rounds_received_ : num_rounds_;
  CAIRN_EXPECTS(header.round < static_cast<std::uint32_t>(num_rounds_), "no such round");
  const auto round = static_cast<int>(header.round);
  CAIRN_EXPECTS(header.operation == operation_ + 1 ||
                    (header.operation == operation_ && round >= rounds_done),
                "a packet of a finished round, or of an operation that has not begun");
  CAIRN_EXPECTS(kept_[slot(header.operation, round, num_rounds_)].empty(),
                "a packet was delivered twice");
  CAIRN_EXPECTS(from == sender_in_round(round), "a packet of the wrong sender");
  CAIRN_EXPECTS(header.num_parts == parts_in_round(round), "wrong number of parts");

  const auto rest = packet.subspan(sizeof header);
  const auto lengths_bytes = header.num_parts * sizeof(std::uint64_t);
  CAIRN_EXPECTS(rest.size() >= lengths_bytes, "truncated packet");
  auto left = rest.size() - lengths_bytes;
  for (std::size_t i = 0; i < header.num_parts; ++i) {
    const auto length = read<std::uint64_t>(rest, i * sizeof(std::uint64_t));
    CAIRN_EXPECTS(length <= left, "a part is longer than its packet");
    left -= length;
  }
  CAIRN_EXPECTS(left == 0, "a packet is longer than its parts");
  return {header.operation, round, rest.first(lengths_bytes), rest.subspan(lengths_bytes)};
}

std::vector<std::byte>& collectives::kept(std::uint64_t operation, int round) {
  return kept_[slot(operation, round, num_rounds_)];
}

void collectives::receive(rank_t from, std::span<const std::byte> packet) {
  const auto view = checked(from, packet);
  if (view.operation != operation_ || view.round != rounds_received_) {
    kept(view.operation, view.round).assign(packet.begin(), packet.end());
    return;
  }
  append(view);
  append_kept();
}

void collectives::append(const packet_view& view) {
  const auto num_parts = view.lengths.size() / sizeof(std::uint64_t);
  lengths_.resize(lengths_.size() + num_parts);
  std::memcpy(lengths_.data() + lengths_.size() - num_parts, view.lengths.data(),
              view.lengths.size());
  held_.insert(held_.end(), view.parts.begin(), view.parts.end());
  ++rounds_received_;
}

void collectives::append_kept() {
  while (rounds_received_ < num_rounds_) {
    auto& next = kept(operation_, rounds_received_);
    if (next.empty()) return;
    const auto rest = std::span<const std::byte>(next).subspan(sizeof(gather_header));
    const auto lengths_bytes = parts_in_round(rounds_received_) * sizeof(std::uint64_t);
    append({operation_, rounds_received_, rest.first(lengths_bytes), rest.subspan(lengths_bytes)});
    next.clear();
  }
}

bool collectives::done() const noexcept {
  return current_ && rounds_sent_ == num_rounds_ && rounds_received_ == num_rounds_;
}

rank_t collectives::sender_in_round(int round) const noexcept {
  const auto above = std::int64_t{self_} + (std::int64_t{1} << round);
  return static_cast<rank_t>(above < size_ ? above : above - size_);
}

std::optional<rank_t> collectives::awaited() const noexcept {
  if (!current_ || rounds_received_ == num_rounds_) return std::nullopt;
  return sender_in_round(rounds_received_);
}

gathered_parts collectives::take() {
  CAIRN_EXPECTS(done(), "the operation is not complete");
  current_ = false;
  return {std::exchange(held_, {}), lengths_, static_cast<std::size_t>(self_)};
}

}  // namespace cairn
