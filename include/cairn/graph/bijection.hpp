// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include <cairn/base/random.hpp>

namespace cairn::graph {

/// A pseudo-random bijection of [0, size) chosen by a seed. It needs no table and no state.
///
/// It applies rounds of multiplication by an odd number and xor-shift. Each round permutes the
/// numbers of bit_width(size - 1) bits. A result of `size` or more is mapped again (cycle walking):
/// fewer than two steps on average, one step if `size` is a power of two.
///
/// Cost    about 6 ns a step
class bijection {
 public:
  struct parameters {
    std::uint64_t size;
    std::uint64_t seed;
  };

  constexpr explicit bijection(const parameters& p) noexcept : n_(p.size) {
    const auto bits = static_cast<unsigned>(std::bit_width(n_ > 0 ? n_ - 1 : 0));
    mask_ = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    shift_ = std::max(1u, bits / 2);
    random64 random(mix64(p.seed));  // independent of other uses of the seed
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
        auto x = y;  // the highest shift_ bits are correct; each step corrects shift_ more
        for (auto right = shift_; right < 64; right += shift_) x = y ^ (x >> shift_);
        y = ((x - r->summand) * inverse_factor(r->factor)) & mask_;
      }
    } while (y >= n_);
    return y;
  }

 private:
  /// The inverse of an odd factor modulo 2^64. Each Newton step doubles the number of correct bits.
  static constexpr std::uint64_t inverse_factor(std::uint64_t factor) noexcept {
    auto inverse = factor;  // correct in 3 bits
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
