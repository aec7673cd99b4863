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

/// A column of a file, before it is passed to its algorithm.
///
/// first  first vertex of this rank
struct file_column {
  world& w;
  const graph::labels& names;
  std::uint64_t first;
  std::string_view name;

  /// Checks what every algorithm requires: no value is missing or larger than `max`, and a class
  /// is named by its smallest id. Returns the violation as one sentence, or nothing; then it
  /// renames each class to its smallest vertex. Collective.
  [[nodiscard]] std::optional<std::string> take(value_kind kind, bool partial, std::uint64_t max,
                                                own_values& values) const;

 private:
  [[nodiscard]] std::optional<std::string> find_invalid(std::uint64_t max, bool partial,
                                                        const own_values& values) const;
  [[nodiscard]] std::optional<std::string> name_by_smallest_vertex(
      std::vector<std::uint64_t>& labels) const;
};

}  // namespace cairn::algo
