// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <cairn/algo/algorithm.hpp>
#include <cairn/algo/fields.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/labels.hpp>

namespace cairn::algo {

/// A column of a file, before its algorithm looks at it.
///
/// first  own vertex
struct file_column {
  world& w;
  const graph::labels& names;
  std::uint64_t first;
  std::string_view name;

  /// What is wrong with the own values for any algorithm: one is missing or larger than `most`, or
  /// a class is not named by its smallest id. Where nothing is, a class is named by its smallest
  /// vertex from then on. Collective.
  [[nodiscard]] std::optional<std::string> take(holds what, bool partial, std::uint64_t most,
                                                own_values& values) const;

 private:
  [[nodiscard]] std::optional<std::string> beyond(std::uint64_t most, bool partial,
                                                  const own_values& values) const;
  [[nodiscard]] std::optional<std::string> name_by_smallest_vertex(
      std::vector<std::uint64_t>& labels) const;
};

}  // namespace cairn::algo
