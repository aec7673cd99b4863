// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include <cairn/algo/sssp.hpp>
#include <cairn/core/timed_choice.hpp>

#include "algo/reach.hpp"
#include "algo/width_choice.hpp"

namespace cairn::algo {

/// What searches in one graph learn from earlier ones.
struct search_choices {
  /// The width for one worker, or for several, who waste more.
  [[nodiscard]] width_choice& width(const world& w) { return widths[w.workers() > 1 ? 1 : 0]; }

  /// Whether the workers lower distances in tables of their own in the next search, or by atomic
  /// instructions. What is faster depends on the graph, and on how long a cache line takes from one
  /// core to another.
  [[nodiscard]] bool next_uses_tables(sssp_method by, bool has_layout) {
    const auto kind = 2 * static_cast<std::uint64_t>(by) + (has_layout ? 1 : 0);
    return own_tables.next(kind, begins_with_tables);
  }
  void took(bool used_tables, std::uint64_t ns, std::uint64_t relaxations) {
    constexpr std::uint64_t few = 1'000;  // fixed costs dominate
    if (relaxations < few) return;
    own_tables.took(used_tables, static_cast<double>(ns) / static_cast<double>(relaxations));
  }

  std::array<width_choice, 2> widths;
  timed_choice own_tables;
  bool begins_with_tables = false;
};

/// Reports a search on one rank that relaxed each edge of each reached vertex at least once.
///
/// Work      O(n) if the report may change the factor
template <class Id, class Distance>
void learn_width(width_choice& widths, const graph::csr<Id>& out,
                 const sssp_result<Distance>& found) {
  if (!widths.learns_from(found.relaxations)) return;
  const auto useful = count_reach(out, found.distance).edges;
  widths.report(found.relaxations, found.relaxations - std::min(useful, found.relaxations));
}

}  // namespace cairn::algo
