// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include <cairn/core/world.hpp>

namespace cairn::graph {

/// The values of every rank, indexed by rank. Collective.
template <class T>
[[nodiscard]] std::vector<std::vector<T>> gather_lists(world& w, std::span<const T> mine) {
  static_assert(std::is_trivially_copyable_v<T>, "values travel as their bytes");
  std::vector<std::vector<T>> all;
  for (const auto& part : w.all_gather_bytes(std::as_bytes(mine))) {
    auto& values = all.emplace_back(part.size() / sizeof(T));
    std::copy(part.begin(), part.end(), reinterpret_cast<std::byte*>(values.data()));
  }
  return all;
}

}  // namespace cairn::graph
