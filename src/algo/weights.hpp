// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <cairn/graph/csr.hpp>

namespace cairn::algo {

/// The weight of the i-th edge of row v, 1 without weights.
template <class Id>
[[nodiscard]] double weight_at(const graph::csr<Id>& rows, std::uint64_t v, std::size_t i) {
  if (rows.template weighted_by<std::int32_t>()) {
    return rows.template weights_of<std::int32_t>(v)[i];
  }
  if (rows.template weighted_by<double>()) return rows.template weights_of<double>(v)[i];
  return 1;
}

/// Calls f(weights), where weights(v)[i] is the weight of the i-th edge of row v, 1 without
/// weights. Loops then determine the type of the weights once.
template <class Id, class F>
decltype(auto) with_weights(const graph::csr<Id>& rows, F&& f) {
  struct ones {
    double operator[](std::size_t) const noexcept { return 1; }
  };
  if (rows.template weighted_by<std::int32_t>()) {
    return f([&](std::uint64_t v) { return rows.template weights_of<std::int32_t>(v); });
  }
  if (rows.template weighted_by<double>()) {
    return f([&](std::uint64_t v) { return rows.template weights_of<double>(v); });
  }
  return f([](std::uint64_t) { return ones{}; });
}

/// Maps weights to integers of the same order, with -0 equal to 0; and back.
[[nodiscard]] constexpr std::uint64_t to_ordered(double weight) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(weight + 0.0);
  return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}
[[nodiscard]] constexpr double from_ordered(std::uint64_t ordered) noexcept {
  return std::bit_cast<double>(ordered >> 63 ? ordered & ~(std::uint64_t{1} << 63) : ~ordered);
}

}  // namespace cairn::algo
