// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>

namespace cairn::pgas {

/// Elements 0 .. n-1 dealt to ranks in consecutive blocks of ceil(n / ranks); the last ranks may
/// own fewer or none. A value of 32 bytes: copy it into loops.
class block_partition {
 public:
  constexpr block_partition() = default;

  /// n        at most 2^63
  /// Throws   contract_violation if n is larger or ranks < 1
  constexpr block_partition(std::uint64_t n, rank_t ranks) : n_(n), ranks_(ranks) {
    CAIRN_EXPECTS(ranks >= 1);
    CAIRN_EXPECTS(n <= std::uint64_t{1} << 63);
    const auto parts = static_cast<std::uint64_t>(ranks);
    block_ = std::max<std::uint64_t>(1, n / parts + (n % parts != 0 ? 1 : 0));
    multiplier_ = n <= std::uint64_t{1} << 32 ? ~std::uint64_t{0} / block_ : 0;
  }

  [[nodiscard]] constexpr std::uint64_t n() const noexcept { return n_; }
  [[nodiscard]] constexpr rank_t ranks() const noexcept { return ranks_; }
  /// Elements per rank, except on the last ranks.
  [[nodiscard]] constexpr std::uint64_t block() const noexcept { return block_; }

  /// Rank r owns [first(r), last(r)).
  [[nodiscard]] constexpr std::uint64_t first(rank_t r) const noexcept {
    // Beyond the last owner r * block may not fit 64 bits, but then it is not below n either.
    std::uint64_t at = 0;
    const bool over = __builtin_mul_overflow(static_cast<std::uint64_t>(r), block_, &at);
    return over ? n_ : std::min(n_, at);
  }
  [[nodiscard]] constexpr std::uint64_t last(rank_t r) const noexcept { return first(r + 1); }
  [[nodiscard]] constexpr std::uint64_t size(rank_t r) const noexcept { return last(r) - first(r); }

  /// The rank that owns v < n. One multiplication if n <= 2^32, else a division.
  ///
  /// With m = floor((2^64 - 1) / block), the high word of (v + 1) * m is floor(v / block) as
  /// long as (v + 1) * block <= 2^64 (after Lemire; adding 1 spares the case block = 1).
  [[nodiscard]] constexpr rank_t owner(std::uint64_t v) const noexcept {
    if (multiplier_ != 0) [[likely]] {
      return static_cast<rank_t>((static_cast<uint128_t>(v + 1) * multiplier_) >> 64);
    }
    return static_cast<rank_t>(v / block_);
  }

  friend constexpr bool operator==(const block_partition& a, const block_partition& b) noexcept {
    return a.n_ == b.n_ && a.ranks_ == b.ranks_;
  }

 private:
  std::uint64_t n_ = 0;
  std::uint64_t block_ = 1;
  std::uint64_t multiplier_ = ~std::uint64_t{0};
  rank_t ranks_ = 1;
};

/// Elements dealt to ranks in consecutive blocks of any sizes. Takes 8 bytes per rank.
class listed_partition {
 public:
  /// sizes     elements by rank; of one rank at least
  explicit listed_partition(std::span<const std::uint64_t> sizes) : firsts_{0} {
    CAIRN_EXPECTS(!sizes.empty());
    for (const auto size : sizes) firsts_.push_back(firsts_.back() + size);
  }

  [[nodiscard]] std::uint64_t n() const noexcept { return firsts_.back(); }
  [[nodiscard]] rank_t ranks() const noexcept { return static_cast<rank_t>(firsts_.size() - 1); }

  /// Rank r owns [first(r), last(r)).
  [[nodiscard]] std::uint64_t first(rank_t r) const noexcept {
    return firsts_[static_cast<std::size_t>(r)];
  }
  [[nodiscard]] std::uint64_t last(rank_t r) const noexcept { return first(r + 1); }
  [[nodiscard]] std::uint64_t size(rank_t r) const noexcept { return last(r) - first(r); }

  /// The rank that owns v < n, in O(log ranks).
  [[nodiscard]] rank_t owner(std::uint64_t v) const noexcept {
    const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), v);
    return static_cast<rank_t>(after - firsts_.begin() - 1);
  }

 private:
  std::vector<std::uint64_t> firsts_;  // by rank, and the end
};

}  // namespace cairn::pgas
