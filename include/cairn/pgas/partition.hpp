// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <cairn/base/contract.hpp>
#include <cairn/base/types.hpp>

namespace cairn::pgas {

/// Assigns elements 0 .. n-1 to ranks in consecutive blocks: equal blocks of ceil(n / ranks), of
/// which the last ranks may own fewer or none, or blocks of listed sizes. It has 40 bytes: loops
/// should copy it. A view with listed blocks is valid as long as its partition; one with equal
/// blocks always.
class partition_view {
 public:
  constexpr partition_view() = default;

  /// Equal blocks.
  ///
  /// n         at most 2^63
  /// Throws    contract_violation if n is larger or ranks < 1
  constexpr partition_view(std::uint64_t n, std::same_as<rank_t> auto ranks)
      : n_(n), ranks_(ranks) {
    CAIRN_EXPECTS(ranks >= 1);
    CAIRN_EXPECTS(n <= std::uint64_t{1} << 63);
    const auto parts = static_cast<std::uint64_t>(ranks);
    block_ = std::max<std::uint64_t>(1, n / parts + (n % parts != 0 ? 1 : 0));
    multiplier_ = n <= std::uint64_t{1} << 32 ? ~std::uint64_t{0} / block_ : 0;
  }

  [[nodiscard]] constexpr std::uint64_t n() const noexcept { return n_; }
  [[nodiscard]] constexpr rank_t ranks() const noexcept { return ranks_; }
  /// Maximum number of elements of a rank; at least 1.
  [[nodiscard]] constexpr std::uint64_t max_block() const noexcept { return block_; }
  /// Whether all blocks are equal, except those of the last ranks.
  [[nodiscard]] constexpr bool equal_blocks() const noexcept { return firsts_ == nullptr; }

  /// Rank r owns [first(r), last(r)).
  [[nodiscard]] constexpr std::uint64_t first(rank_t r) const noexcept {
    if (firsts_ != nullptr) return firsts_[r];
    // If r * block overflows, it is at least n, so rank r owns nothing.
    std::uint64_t at = 0;
    const bool over = __builtin_mul_overflow(static_cast<std::uint64_t>(r), block_, &at);
    return over ? n_ : std::min(n_, at);
  }
  [[nodiscard]] constexpr std::uint64_t last(rank_t r) const noexcept { return first(r + 1); }
  [[nodiscard]] constexpr std::uint64_t size(rank_t r) const noexcept { return last(r) - first(r); }

  /// The rank that owns v < n. One multiplication if blocks are equal and n <= 2^32, else a
  /// division; O(log ranks) for listed blocks.
  ///
  /// Let m = floor((2^64 - 1) / block). If (v + 1) * block <= 2^64, the high word of (v + 1) * m
  /// equals floor(v / block) (after Lemire; the + 1 also covers block = 1).
  [[nodiscard]] constexpr rank_t owner(std::uint64_t v) const noexcept {
    if (multiplier_ != 0) [[likely]] {
      return static_cast<rank_t>((static_cast<uint128_t>(v + 1) * multiplier_) >> 64);
    }
    if (firsts_ != nullptr) return listed_owner(v);
    return static_cast<rank_t>(v / block_);
  }

 protected:
  constexpr void list(const std::vector<std::uint64_t>& firsts) noexcept {
    n_ = firsts.back();
    ranks_ = static_cast<rank_t>(firsts.size() - 1);
    block_ = 1;
    multiplier_ = 0;
    firsts_ = firsts.data();
    for (rank_t r = 0; r < ranks_; ++r) block_ = std::max(block_, size(r));
  }

 private:
  [[nodiscard]] constexpr rank_t listed_owner(std::uint64_t v) const noexcept {
    const auto* const after = std::upper_bound(firsts_, firsts_ + ranks_ + 1, v);
    return static_cast<rank_t>(after - firsts_ - 1);
  }

  std::uint64_t n_ = 0;
  std::uint64_t block_ = 1;
  std::uint64_t multiplier_ = ~std::uint64_t{0};
  const std::uint64_t* firsts_ = nullptr;  // first element of each rank, then n
  rank_t ranks_ = 1;
};

/// A partition that owns its list of blocks, shared by all copies.
///
/// Memory    8 bytes per rank if blocks are listed
class partition : public partition_view {
 public:
  partition() = default;
  /// Equal blocks.
  partition(std::uint64_t n, std::same_as<rank_t> auto ranks) : partition_view(n, ranks) {}
  /// sizes     number of elements of each rank; at least one rank
  /// Throws    contract_violation if `sizes` is empty
  [[nodiscard]] static partition listed(std::span<const std::uint64_t> sizes) {
    CAIRN_EXPECTS(!sizes.empty());
    std::vector<std::uint64_t> firsts{0};
    for (const auto size : sizes) firsts.push_back(firsts.back() + size);
    partition made;
    made.kept_ = std::make_shared<const std::vector<std::uint64_t>>(std::move(firsts));
    made.list(*made.kept_);
    return made;
  }

  friend bool operator==(const partition& a, const partition& b) noexcept {
    if (a.n() != b.n() || a.ranks() != b.ranks()) return false;
    if (a.equal_blocks() && b.equal_blocks()) return true;
    for (rank_t r = 0; r < a.ranks(); ++r) {
      if (a.first(r) != b.first(r)) return false;
    }
    return true;
  }

 private:
  std::shared_ptr<const std::vector<std::uint64_t>> kept_;
};

/// Throws    contract_violation if elements are assigned to another number of ranks than `ranks`
/// Returns   p
template <class Partition>
[[nodiscard]] Partition expect_ranks(Partition p, rank_t ranks) {
  if constexpr (requires { p.ranks(); }) {
    CAIRN_EXPECTS(p.ranks() == ranks, "a partition has the ranks of the world");
  }
  return p;
}

}  // namespace cairn::pgas
