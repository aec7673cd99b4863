// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <type_traits>
#include <variant>

#include <cairn/base/random.hpp>
#include <cairn/base/types.hpp>

namespace cairn::graph::io {

/// Tests in one pass, in any order, whether rows are symmetric: whether there are as many entries
/// (v, u, w) as (u, v, w).
///
/// With hashes a(v), b(v) and c(w) of vertices and weights an entry contributes
///   c(w) (a(u) b(v) - b(u) a(v)),
/// which the opposite entry cancels. A row needs only the sums of c a and of c b. The total of
/// symmetric rows is 0 modulo 2^64; the total of other rows is 0 for about one key in 2^58. The key
/// is drawn when a file is read, so no file can be constructed to pass.
///
/// The loop over a row is vectorised for 32-bit ids: about 1 ns an entry, 3 with weights.
class balance {
 public:
  struct key {
    std::uint64_t vertices = 0;
    std::uint64_t weights = 0;
  };

  [[nodiscard]] static key draw() {
    std::random_device bits;
    const auto word = [&] { return std::uint64_t{bits()} << 32 | bits(); };
    return {word(), word()};
  }

  explicit balance(const key& k) noexcept : vertices_(k.vertices), weights_(k.weights) {}

  /// The contribution of the entries of row u.
  ///
  /// weights   of the targets; std::monostate if unweighted
  template <class Id, class Weights>
  [[nodiscard]] std::uint64_t of_row(Id u, std::span<const Id> targets,
                                     const Weights& weights) const noexcept {
    std::uint64_t a = 0, b = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const auto h = vertices_.of(targets[i]);
      if constexpr (std::is_same_v<Weights, std::monostate>) {
        a += h.a;
        b += h.b;
      } else {
        const auto c = weights_.coefficient(weights[i]);
        a += c * h.a;
        b += c * h.b;
      }
    }
    const auto h = vertices_.of(u);
    return h.a * b - h.b * a;
  }

 private:
  struct pair {
    std::uint64_t a, b;
  };

  /// A 32-bit word is multiplied, and the fold xors the halves of the product. The product differs
  /// for different words, the fold is no multiple of the word, and its square is no multiple of the
  /// fold.
  class folding {
   public:
    explicit folding(std::uint64_t key) noexcept
        : mask_(static_cast<std::uint32_t>(key)),
          factor_(static_cast<std::uint32_t>(key >> 32) | 0x8000'0001u),
          wide_(mix64(key)),
          odd_(mix64(wide_) | 1) {}

    [[nodiscard]] pair of(std::uint32_t v) const noexcept {
      const auto a = fold(v);
      const std::uint64_t low = static_cast<std::uint32_t>(a);
      return {a, low * low};
    }
    [[nodiscard]] pair of(std::uint64_t v) const noexcept {
      const auto a = mix64(v ^ wide_);
      return {a, mix64(a)};
    }
    [[nodiscard]] std::uint64_t coefficient(std::int32_t w) const noexcept {
      return fold(static_cast<std::uint32_t>(w));
    }
    [[nodiscard]] std::uint64_t coefficient(double w) const noexcept {  // -0 counts as 0
      const auto product = uint128_t{std::bit_cast<std::uint64_t>(w + 0.0) ^ wide_} * odd_;
      return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }

   private:
    [[nodiscard]] std::uint64_t fold(std::uint32_t x) const noexcept {
      const auto product = std::uint64_t{x ^ mask_} * factor_;
      return product ^ product >> 32;
    }

    std::uint32_t mask_, factor_;
    std::uint64_t wide_, odd_;
  };

  folding vertices_, weights_;
};

}  // namespace cairn::graph::io
