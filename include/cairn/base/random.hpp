// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include <cairn/base/types.hpp>

namespace cairn {

/// A bijection of 64-bit words whose output looks random (the finaliser of SplitMix64).
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A small random number generator that can start anywhere. Streams with different (seed, stream)
/// are independent for all practical purposes. So element i of a parallel loop draws from
/// random64(seed, i) and gets the same numbers on any worker.
///
/// Models std::uniform_random_bit_generator. State: 8 bytes. About 1 ns per draw.
class random64 {
 public:
  using result_type = std::uint64_t;

  constexpr explicit random64(std::uint64_t seed, std::uint64_t stream = 0) noexcept
      : state_(mix64(seed) ^ mix64(mix64(stream) + 0x632be59bd9b4e019u)) {}

  constexpr std::uint64_t operator()() noexcept {
    const auto drawn = mix64(state_);
    state_ += 0x9e3779b97f4a7c15u;
    return drawn;
  }

  /// Uniform in [0, n), n > 0, by Lemire's multiplication; the bias is below n / 2^64.
  constexpr std::uint64_t below(std::uint64_t n) noexcept {
    return static_cast<std::uint64_t>((static_cast<uint128_t>((*this)()) * n) >> 64);
  }

  /// Uniform in [0, 1) with 53 random bits.
  constexpr double uniform() noexcept { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return std::numeric_limits<result_type>::max(); }

 private:
  std::uint64_t state_;
};

}  // namespace cairn
