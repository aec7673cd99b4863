// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <cairn/algo/file_column.hpp>

namespace cairn::algo {

std::optional<std::string> file_column::take(value_kind kind, bool partial, std::uint64_t max,
                                             own_values& values) const {
  if (auto wrong = find_invalid(max, partial, values)) return wrong;
  auto* const labels = std::get_if<std::vector<std::uint64_t>>(&values);
  if (kind != value_kind::classes || labels == nullptr || names.ascend()) return std::nullopt;
  return name_by_smallest_vertex(*labels);
}

// Reports the first vertex whose value is missing or larger than `max`.
std::optional<std::string> file_column::find_invalid(std::uint64_t max, bool partial,
                                                     const own_values& values) const {
  constexpr auto none = no_vertex<std::uint64_t>;
  struct offender {
    std::uint64_t vertex = none, value = 0;
  };
  const auto mine = std::visit(
      [&](const auto& own) -> offender {
        for (std::uint64_t i = 0; i < own.size(); ++i) {
          const auto x = own[i];
          if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(x)>>) {
            if (std::isnan(x) && !partial) return {first + i, none};
          } else {
            if (x == none ? !partial : x > max) return {first + i, x};
          }
        }
        return {};
      },
      values);
  for (const auto& found : w.all_gather(mine)) {
    if (found.vertex == none) continue;
    const auto says = "vertex " + names.text_of(found.vertex);
    if (found.value == none) return says + " has no " + std::string(name);
    return says + " has the " + std::string(name) + " " + std::to_string(found.value) +
           ", which is too large";
  }
  return std::nullopt;
}

// A file names a class by its smallest id, an algorithm by its smallest vertex. They differ if
// vertices are not in the order of their ids.
std::optional<std::string> file_column::name_by_smallest_vertex(
    std::vector<std::uint64_t>& labels) const {
  const auto all = w.all_gather_values<std::uint64_t>(labels);
  std::vector<std::uint64_t> smallest(all.size(), no_vertex<std::uint64_t>);
  for (std::uint64_t v = 0; v < all.size(); ++v) {
    const auto named = all[v];
    const auto said = [&] {
      return "vertex " + names.text_of(v) + " is labelled vertex " + names.text_of(named);
    };
    if (named >= all.size()) continue;
    if (all[named] != named) return said() + ", which has another label";
    if (names.position_of(v) < names.position_of(named)) return said() + ", whose id is larger";
    smallest[named] = std::min(smallest[named], v);
  }
  for (auto& x : labels) {
    if (x < all.size()) x = smallest[x];
  }
  return std::nullopt;
}

}  // namespace cairn::algo
