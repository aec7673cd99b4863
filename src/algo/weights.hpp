// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>

#include <cairn/graph/csr.hpp>
#include <cairn/graph/edge.hpp>

namespace cairn::algo {

/// The type of weights whose sums are distances of this type.
template <class Distance>
using weight_of = std::conditional_t<std::is_integral_v<Distance>, std::int32_t, double>;

/// The weight of the i-th edge of row v, 1 without weights.
template <class Id>
[[nodiscard]] double weight_at(const graph::csr<Id>& rows, std::uint64_t v, std::size_t i) {
  if (rows.template weighted_by<std::int32_t>()) {
    return rows.template edges_of<std::int32_t>(v)[i].weight;
  }
  if (rows.template weighted_by<double>()) return rows.template edges_of<double>(v)[i].weight;
  return 1;
}

/// Calls f(edges), where edges(v) are the targets and weights of row v; without weights each is 1.
/// Loops then determine the type of the weights once.
template <class Id, class F>
decltype(auto) with_edges(const graph::csr<Id>& rows, F&& f) {
  if (rows.template weighted_by<std::int32_t>()) {
    return f([&](std::uint64_t v) { return rows.template edges_of<std::int32_t>(v); });
  }
  if (rows.template weighted_by<double>()) {
    return f([&](std::uint64_t v) { return rows.template edges_of<double>(v); });
  }
  constexpr auto of_weight_1 = [](Id u) { return graph::weighted_edge<Id, double>{u, 1}; };
  return f([&](std::uint64_t v) { return rows.neighbors(v) | std::views::transform(of_weight_1); });
}

/// The shortest text that is read back as this weight.
[[nodiscard]] inline std::string text_of_weight(double weight) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), weight).ptr};
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
