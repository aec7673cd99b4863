// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <cairn/base/contract.hpp>
#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>

namespace cairn::pgas {

/// Which ranks own the elements of a global array.
///
/// Source    [GMT14] table I (partition, local, remote); the XMT scrambles its addresses (hashed)
enum class distribution : std::uint8_t {
  partition,  ///< equal blocks, in order, as pgas::partition
  local,      ///< all at the rank that allocates
  remote,     ///< equal blocks on all other ranks; on one rank as local
  cyclic,     ///< element i at rank i mod P
  hashed      ///< blocks of 8 elements; P consecutive ones lie on P ranks in a random rotation
};

/// The quotient of numbers below a bound by a constant: one multiplication where the bound allows
/// it, otherwise a division.
///
/// Let m = floor((2^64 - 1) / d). If (v + 1) * d <= 2^64, the high word of (v + 1) * m equals
/// floor(v / d) [Lemire19].
class constant_quotient {
 public:
  constexpr constant_quotient() = default;
  /// divisor   at least 1;  bound   of the dividends: v < bound
  constexpr constant_quotient(std::uint64_t divisor, std::uint64_t bound)
      : divisor_(divisor),
        multiplier_(bound == 0 || divisor <= ~std::uint64_t{0} / bound ? ~std::uint64_t{0} / divisor
                                                                       : 0) {}
  [[nodiscard]] constexpr std::uint64_t divisor() const noexcept { return divisor_; }
  [[nodiscard]] constexpr std::uint64_t of(std::uint64_t v) const noexcept {
    if (multiplier_ != 0) [[likely]] {
      return static_cast<std::uint64_t>((static_cast<uint128_t>(v + 1) * multiplier_) >> 64);
    }
    return v / divisor_;
  }

 private:
  std::uint64_t divisor_ = 1, multiplier_ = ~std::uint64_t{0};
};

/// Where an element lies: its owner, and its number among the owner's elements.
struct element_place {
  rank_t owner;
  std::uint64_t offset;
  friend bool operator==(const element_place&, const element_place&) = default;
};

/// The rank that `local` and `remote` refer to, and the number of ranks of its job.
struct home_rank {
  rank_t home, ranks;
};

/// Maps the elements 0 .. n-1 of a global array to ranks and offsets. A value of 40 bytes that may
/// travel; all functions are pure. The elements of a rank have the offsets 0 .. size(rank) - 1.
///
/// Cost      place(): one multiplication where n times the divisor is below 2^64, else a division;
///           hashed: in addition a mix of the block's number
class array_layout {
 public:
  constexpr array_layout() = default;
  /// n         at most 2^63
  /// Throws    contract_violation if n is larger, or `at.home` is not a rank
  constexpr array_layout(distribution d, std::uint64_t n, home_rank at)
      : n_(n), ranks_(at.ranks), home_(at.home), distribution_(d) {
    CAIRN_EXPECTS(at.home >= 0 && at.home < at.ranks);
    CAIRN_EXPECTS(n <= std::uint64_t{1} << 63);
    if (distribution_ == distribution::remote && ranks_ == 1) distribution_ = distribution::local;
    const auto p = static_cast<std::uint64_t>(ranks_);
    switch (distribution_) {
      case distribution::partition:
        unit_ = {block_of(n, p), n};
        break;
      case distribution::remote:
        unit_ = {block_of(n, p - 1), n};
        break;
      case distribution::local:
        unit_ = {std::max<std::uint64_t>(1, n), n};
        break;
      case distribution::cyclic:
        unit_ = {p, n};
        break;
      case distribution::hashed:
        unit_ = {p, (n >> hashed_bits) + 1};
        break;
    }
  }

  [[nodiscard]] constexpr std::uint64_t n() const noexcept { return n_; }
  [[nodiscard]] constexpr rank_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] constexpr distribution kind() const noexcept { return distribution_; }

  /// Where element i < n lies.
  [[nodiscard]] constexpr element_place place(std::uint64_t i) const noexcept {
    switch (distribution_) {
      case distribution::local:
        return {home_, i};
      case distribution::cyclic: {
        const auto row = unit_.of(i);
        return {static_cast<rank_t>(i - row * unit_.divisor()), row};
      }
      case distribution::hashed: {
        const auto block = i >> hashed_bits, row = unit_.of(block);
        const auto column = static_cast<rank_t>(block - row * unit_.divisor());
        return {rotated(row, column), row << hashed_bits | (i & hashed_mask)};
      }
      case distribution::remote: {
        const auto q = unit_.of(i);
        const auto r = static_cast<rank_t>(q);
        return {r < home_ ? r : r + 1, i - q * unit_.divisor()};
      }
      case distribution::partition:
        break;
    }
    const auto q = unit_.of(i);
    return {static_cast<rank_t>(q), i - q * unit_.divisor()};
  }
  [[nodiscard]] constexpr rank_t owner(std::uint64_t i) const noexcept { return place(i).owner; }

  /// Number of consecutive elements from i on that lie at consecutive offsets of one rank; at least
  /// 1 if i < n.
  [[nodiscard]] constexpr std::uint64_t run(std::uint64_t i) const noexcept {
    auto length = n_ - i;
    switch (distribution_) {
      case distribution::local:
        break;
      case distribution::cyclic:
        length = ranks_ == 1 ? length : 1;
        break;
      case distribution::hashed:
        length = std::min(length, hashed_mask + 1 - (i & hashed_mask));
        break;
      case distribution::remote:
      case distribution::partition:
        length = std::min(length, unit_.divisor() - place(i).offset);
    }
    return length;
  }

  /// The element at an offset of a rank: the inverse of place().
  [[nodiscard]] constexpr std::uint64_t element(rank_t r, std::uint64_t offset) const noexcept {
    switch (distribution_) {
      case distribution::local:
        return offset;
      case distribution::cyclic:
        return offset * unit_.divisor() + static_cast<std::uint64_t>(r);
      case distribution::hashed: {
        const auto row = offset >> hashed_bits;
        const auto block = row * unit_.divisor() + column_of(row, r);
        return block << hashed_bits | (offset & hashed_mask);
      }
      case distribution::remote:
      case distribution::partition:
        break;
    }
    return block_number(r) * unit_.divisor() + offset;
  }

  /// Number of elements of rank r.
  [[nodiscard]] constexpr std::uint64_t size(rank_t r) const noexcept {
    switch (distribution_) {
      case distribution::local:
        return r == home_ ? n_ : 0;
      case distribution::cyclic: {
        const auto p = unit_.divisor();
        return n_ / p + (static_cast<std::uint64_t>(r) < n_ % p ? 1 : 0);
      }
      case distribution::hashed:
        return hashed_size(r);
      case distribution::remote:
        if (r == home_) return 0;
        break;
      case distribution::partition:
        break;
    }
    return std::min(n_, first_of(block_number(r) + 1)) - std::min(n_, first_of(block_number(r)));
  }

  friend constexpr bool operator==(const array_layout& a, const array_layout& b) noexcept {
    return a.n_ == b.n_ && a.ranks_ == b.ranks_ && a.home_ == b.home_ &&
           a.distribution_ == b.distribution_;
  }

 private:
  static constexpr unsigned hashed_bits = 3;
  static constexpr std::uint64_t hashed_mask = (1u << hashed_bits) - 1;

  static constexpr std::uint64_t block_of(std::uint64_t n, std::uint64_t parts) noexcept {
    return std::max<std::uint64_t>(1, n / parts + (n % parts != 0 ? 1 : 0));
  }
  [[nodiscard]] constexpr std::uint64_t block_number(rank_t r) const noexcept {
    const bool skips_home = distribution_ == distribution::remote && r > home_;
    return static_cast<std::uint64_t>(r) - (skips_home ? 1 : 0);
  }
  // The first element of a block; n if it overflows.
  [[nodiscard]] constexpr std::uint64_t first_of(std::uint64_t block) const noexcept {
    std::uint64_t at = 0;
    return __builtin_mul_overflow(block, unit_.divisor(), &at) ? n_ : at;
  }

  // Hashed: row r has the blocks r * P .. r * P + P - 1, one on each rank, rotated by shift(r).
  [[nodiscard]] constexpr rank_t shift(std::uint64_t row) const noexcept {
    const auto p = static_cast<std::uint64_t>(ranks_);
    return static_cast<rank_t>((static_cast<uint128_t>(mix64(row)) * p) >> 64);
  }
  [[nodiscard]] constexpr rank_t rotated(std::uint64_t row, rank_t column) const noexcept {
    const auto to_the_end = ranks_ - shift(row);
    return column < to_the_end ? column + (ranks_ - to_the_end) : column - to_the_end;
  }
  [[nodiscard]] constexpr std::uint64_t column_of(std::uint64_t row, rank_t r) const noexcept {
    const auto s = shift(row);
    return static_cast<std::uint64_t>(r >= s ? r - s : r + (ranks_ - s));
  }
  [[nodiscard]] constexpr std::uint64_t hashed_size(rank_t r) const noexcept {
    const auto p = unit_.divisor();
    const auto whole = n_ >> hashed_bits, rows = whole / p, in_last_row = whole % p;
    const auto column = column_of(rows, r);
    auto size = rows << hashed_bits;
    if (column < in_last_row) size += hashed_mask + 1;
    if (column == in_last_row) size += n_ & hashed_mask;  // the last block is not full
    return size;
  }

  std::uint64_t n_ = 0;
  constant_quotient unit_;  // by the block, by P, or of blocks by P
  rank_t ranks_ = 1, home_ = 0;
  distribution distribution_ = distribution::partition;
};

}  // namespace cairn::pgas
