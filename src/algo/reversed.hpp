// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <cairn/algo/string_pool.hpp>
#include <cairn/base/types.hpp>

namespace cairn::algo {

/// The characters in the opposite order.
[[nodiscard]] inline pool_string reversed(const pool_string& s) {
  std::array<char, 20> characters;
  const auto view = s.view();
  std::reverse_copy(view.begin(), view.end(), characters.begin());
  return pool_string({characters.data(), view.size()});
}

/// The number of task t's first input, in a pool of `size` strings.
[[nodiscard]] constexpr std::uint64_t first_input(std::uint64_t t, std::uint64_t size,
                                                  std::uint64_t tasks) noexcept {
  return static_cast<std::uint64_t>(uint128_t{t} * size / tasks);
}
/// The number of the j-th string that is stored at the beginning.
[[nodiscard]] constexpr std::uint64_t stored_input(std::uint64_t j, std::uint64_t size,
                                                   std::uint64_t entries) noexcept {
  return static_cast<std::uint64_t>(uint128_t{j} * size / entries);
}

}  // namespace cairn::algo
