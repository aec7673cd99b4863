// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include <cairn/base/random.hpp>

namespace cairn::graph {

/// A bijection of [0, n) that looks random, chosen by a seed; needs no table and no state.
///
/// Rounds of multiplication by an odd number and xor-shift, each of which permutes the numbers
/// of bit_width(n - 1) bits; a number that lands at n or beyond walks on along its cycle, which
/// takes fewer than two steps on average, and none for powers of two.
///
/// Cost    about 6 ns a step
class bijection {
 public:
  constexpr bijection(std::uint64_t n, std::uint64_t seed) noexcept : n_(n) {
    const auto bits = static_cast<unsigned>(std::bit_width(n > 0 ? n - 1 : 0));
    mask_ = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    shift_ = std::max(1u, bits / 2);
    random64 random(mix64(seed));  // apart from what others draw with this seed
    for (auto& r : rounds_) r = {random() | 1, random()};
  }

  /// x < n
  [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t x) const noexcept {
    do {
      for (const auto& r : rounds_) {
        x = (x * r.factor + r.summand) & mask_;
        x ^= x >> shift_;
      }
    } while (x >= n_);
    return x;
  }

  /// The x with (*this)(x) == y, for y < n.
  [[nodiscard]] constexpr std::uint64_t inverse(std::uint64_t y) const noexcept {
    do {
      for (auto r = rounds_.rbegin(); r != rounds_.rend(); ++r) {
        auto x = y;  // its highest shift_ bits are right, then those below, ...
        for (auto right = shift_; right < 64; right += shift_) x = y ^ (x >> shift_);
        y = ((x - r->summand) * inverse_factor(r->factor)) & mask_;
      }
    } while (y >= n_);
    return y;
  }

 private:
  /// Of an odd factor, modulo 2^64: each of Newton's steps doubles the bits that are right.
  static constexpr std::uint64_t inverse_factor(std::uint64_t factor) noexcept {
    auto inverse = factor;  // right in 3 bits
    for (int bits = 3; bits < 64; bits *= 2) inverse *= 2 - factor * inverse;
    return inverse;
  }

  struct round {
    std::uint64_t factor = 1, summand = 0;
  };
  std::uint64_t n_;
  std::uint64_t mask_ = 0;
  unsigned shift_ = 1;
  std::array<round, 4> rounds_;
};

}  // namespace cairn::graph
