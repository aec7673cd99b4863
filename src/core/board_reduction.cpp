// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include <cairn/base/contract.hpp>
#include <cairn/core/board_reduction.hpp>

namespace cairn {
namespace {

// Operations of one generation have consecutive tags.
constexpr int operation_bits = 40;
constexpr std::uint64_t too_long = ~std::uint64_t{0};

}  // namespace

struct board_reduction::slot {
  std::uint64_t tag;
  std::uint64_t length;
  std::byte value[max_value];

  [[nodiscard]] std::uint64_t load_tag() noexcept {
    return std::atomic_ref(tag).load(std::memory_order_acquire);
  }
};

board_reduction::board_reduction(std::span<std::byte> memory, rank_t self, rank_t size)
    : self_(self), size_(size) {
  static_assert(sizeof(slot) == slot_bytes);
  CAIRN_EXPECTS(0 <= self && self < size);
  if (memory.size() < bytes_needed(size)) return;
  memory_ = memory.first(bytes_needed(size));
  std::uint64_t last = 0;
  for (tag_ = 0; tag_ < 2; ++tag_) last = std::max(last, slot_of(self).load_tag());
  first_generation_ = (last >> operation_bits) + 1;
  partial_.resize(2 * static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(size)) + 1));
  restart(0);
}

board_reduction::slot& board_reduction::slot_of(rank_t rank) const noexcept {
  const auto copy = static_cast<std::size_t>(tag_ % 2);
  const auto i = copy * static_cast<std::size_t>(size_) + static_cast<std::size_t>(rank);
  return *reinterpret_cast<slot*>(memory_.data() + i * slot_bytes);
}

void board_reduction::restart(std::uint32_t generation) noexcept {
  tag_ = (first_generation_ + generation) << operation_bits;
  arrived_ = 0;
}

void board_reduction::begin(std::span<const std::byte> mine) {
  ++tag_;
  mine_.assign(mine.begin(), mine.end());
  auto& own = slot_of(self_);
  own.length = mine.size() <= max_value ? mine.size() : too_long;
  if (own.length != too_long && !mine.empty()) std::memcpy(own.value, mine.data(), mine.size());
  std::atomic_ref(own.tag).store(tag_, std::memory_order_release);
  arrived_ = 0;
  fits_ = true;
}

bool board_reduction::complete() noexcept {
  for (; arrived_ < size_; ++arrived_) {
    auto& of = slot_of(arrived_);
    if (of.load_tag() != tag_) return false;
    fits_ = fits_ && of.length != too_long;
  }
  return true;
}

std::optional<rank_t> board_reduction::awaited() const noexcept {
  for (rank_t r = 0; r < size_; ++r) {
    if (slot_of(r).load_tag() != tag_) return r;
  }
  return std::nullopt;
}

std::span<const std::byte> board_reduction::value_of(rank_t rank) const noexcept {
  const auto& of = slot_of(rank);
  return {of.value, static_cast<std::size_t>(of.length)};
}

std::span<const std::byte> board_reduction::combine(recursive_doubling::combine_function f) {
  CAIRN_EXPECTS(arrived_ == size_ && fits_, "the operation is not complete");
  const auto core = static_cast<rank_t>(std::bit_floor(static_cast<unsigned>(size_)));
  return combined(f, 0, core, 0, false);
}

// The combination of `ranks` ranks, a power of two, and of those that fold into them.
std::span<const std::byte> board_reduction::combined(recursive_doubling::combine_function f,
                                                     rank_t first, rank_t ranks, std::size_t depth,
                                                     bool second) {
  const auto core = static_cast<rank_t>(std::bit_floor(static_cast<unsigned>(size_)));
  if (ranks == 1 && first + core >= size_) return value_of(first);
  const auto half = ranks / 2;
  const auto lower = ranks == 1 ? value_of(first) : combined(f, first, half, depth + 1, false);
  const auto higher =
      ranks == 1 ? value_of(first + core) : combined(f, first + half, half, depth + 1, true);
  auto& both = partial_[2 * depth + (second ? 1 : 0)];
  both.clear();
  f(lower, higher, both);
  return both;
}

}  // namespace cairn
