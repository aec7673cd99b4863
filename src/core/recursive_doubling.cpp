// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <utility>

#include <cairn/base/contract.hpp>
#include <cairn/core/recursive_doubling.hpp>

namespace cairn {
namespace {

constexpr int step_bits = 8;

struct round_header {
  std::uint64_t operation;
  std::uint64_t length_and_step;  // upper bits: length of the value

  [[nodiscard]] std::uint64_t length() const { return length_and_step >> step_bits; }
  [[nodiscard]] int step() const {
    return static_cast<int>(length_and_step & ((1u << step_bits) - 1));
  }
};
static_assert(sizeof(round_header) == 16);

// The packets of a transport may be unaligned.
round_header header_of(std::span<const std::byte> packet) {
  round_header header;
  std::memcpy(&header, packet.data(), sizeof header);
  return header;
}

std::span<const std::byte> value_of(std::span<const std::byte> packet) {
  return packet.subspan(sizeof(round_header));
}

}  // namespace

recursive_doubling::recursive_doubling(rank_t self, rank_t size)
    : self_(self), size_(size), num_steps_(0) {
  CAIRN_EXPECTS(0 <= self && self < size);
  num_steps_ = std::bit_width(static_cast<std::uint32_t>(size)) + 1;  // K + 2
  kept_.resize(2 * static_cast<std::size_t>(num_steps_));
}

recursive_doubling::step recursive_doubling::step_at(int i) const noexcept {
  const auto core = static_cast<rank_t>(std::bit_floor(static_cast<std::uint32_t>(size_)));
  if (0 < i && i < num_steps_ - 1) {
    if (self_ >= core) return {};
    return {self_ ^ (rank_t{1} << (i - 1)), true, true};
  }
  const bool folds_in = i == 0;
  if (self_ >= core) return {self_ - core, folds_in, !folds_in};
  if (size_ - self_ > core) return {self_ + core, !folds_in, folds_in};
  return {};
}

recursive_doubling::bytes& recursive_doubling::kept(std::uint64_t operation, int i) noexcept {
  return kept_[static_cast<std::size_t>(operation % 2) * static_cast<std::size_t>(num_steps_) +
               static_cast<std::size_t>(i)];
}

void recursive_doubling::begin(std::span<const std::byte> mine, combine_function combine) {
  CAIRN_EXPECTS(!current_ || done(), "an operation is running");
  CAIRN_EXPECTS(mine.size() >> (64 - step_bits) == 0, "a value is too long");
  current_ = false;
  held_.assign(sizeof(round_header), std::byte{});
  held_.insert(held_.end(), mine.begin(), mine.end());
  combine_ = combine;
  auto& folded_in = kept(operation_ + 1, 0);
  if (!folded_in.empty()) combine_with(step_at(0), folded_in);
  ++operation_;
  current_ = true;
  sent_ = false;
  step_ = folded_in.empty() ? 0 : 1;
  folded_in.clear();
  skip_inactive_steps();
}

std::optional<recursive_doubling::outgoing> recursive_doubling::next_send() {
  if (!current_ || step_ == num_steps_ || sent_) return {};
  const auto s = step_at(step_);
  if (!s.sends) return {};
  const auto length = held_.size() - sizeof(round_header);
  const round_header header{operation_, length << step_bits | static_cast<unsigned>(step_)};
  std::memcpy(held_.data(), &header, sizeof header);
  outgoing out{s.peer, held_};
  auto& arrived = kept(operation_, step_);
  if (s.receives && arrived.empty()) {
    sent_ = true;
    return out;
  }
  // The returned packet stays valid: combining writes beside it and swaps the two.
  if (s.receives) {
    combine_with(s, arrived);
    arrived.clear();
  }
  advance();
  return out;
}

void recursive_doubling::check(rank_t from, std::span<const std::byte> packet) {
  CAIRN_EXPECTS(packet.size() >= sizeof(round_header), "truncated packet");
  const auto header = header_of(packet);
  const auto i = header.step();
  CAIRN_EXPECTS(i < num_steps_, "no such step");
  const auto s = step_at(i);
  CAIRN_EXPECTS(s.receives && from == s.peer, "a packet of the wrong sender");
  CAIRN_EXPECTS(header.length() == packet.size() - sizeof header, "a packet of the wrong length");
  if (header.operation == operation_) {
    CAIRN_EXPECTS(current_ && i >= step_, "a packet of a finished step");
  } else {
    CAIRN_EXPECTS(header.operation == operation_ + 1,
                  "a packet of an operation that has not begun");
    // The sender has completed the current operation, so it has this rank's packet of that
    // operation. The result of the next operation cannot arrive yet, because it contains this
    // rank's value.
    const auto needed = i == 0 ? num_steps_ - 1 : i;
    CAIRN_EXPECTS(
        i != num_steps_ - 1 && (!current_ || step_ > needed || (step_ == needed && sent_)),
        "a packet of an operation that has not begun");
  }
  CAIRN_EXPECTS(kept(header.operation, i).empty(), "a packet was delivered twice");
}

void recursive_doubling::receive(rank_t from, std::span<const std::byte> packet) {
  check(from, packet);
  const auto header = header_of(packet);
  const auto i = header.step();
  const auto s = step_at(i);
  if (header.operation != operation_ || i != step_ || (s.sends && !sent_)) {
    kept(header.operation, i).assign(packet.begin(), packet.end());
    return;
  }
  combine_with(s, packet);
  advance();
}

// Combines this rank's partial result with the value in the packet of step s.
void recursive_doubling::combine_with(const step& s, std::span<const std::byte> packet) {
  const auto mine = value_of(held_), theirs = value_of(packet);
  combined_.assign(sizeof(round_header), std::byte{});
  if (s.peer < self_ && !s.sends) {  // the result, which contains this rank's value
    combined_.insert(combined_.end(), theirs.begin(), theirs.end());
  } else if (s.peer < self_) {
    combine_(theirs, mine, combined_);
  } else {
    combine_(mine, theirs, combined_);
  }
  held_.swap(combined_);
}

void recursive_doubling::advance() noexcept {
  ++step_;
  sent_ = false;
  skip_inactive_steps();
}

void recursive_doubling::skip_inactive_steps() noexcept {
  while (step_ < num_steps_ && !step_at(step_).sends && !step_at(step_).receives) ++step_;
}

std::optional<rank_t> recursive_doubling::awaited() const noexcept {
  if (!current_ || step_ == num_steps_) return std::nullopt;
  const auto s = step_at(step_);
  return s.receives ? std::optional(s.peer) : std::nullopt;
}

std::span<const std::byte> recursive_doubling::take() {
  CAIRN_EXPECTS(done(), "the operation is not complete");
  current_ = false;
  return value_of(held_);
}

void add_words(std::span<const std::byte> lower, std::span<const std::byte> higher,
               std::vector<std::byte>& result) {
  CAIRN_EXPECTS(lower.size() == higher.size() && lower.size() % sizeof(std::uint64_t) == 0,
                "the ranks sum different numbers of words");
  auto at = result.size();
  result.resize(at + lower.size());
  for (std::size_t i = 0; i < lower.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, lower.data() + i, sizeof a);
    std::memcpy(&b, higher.data() + i, sizeof b);
    a += b;
    std::memcpy(result.data() + at, &a, sizeof a);
    at += sizeof a;
  }
}

}  // namespace cairn
