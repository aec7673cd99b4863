// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <cairn/algo/sssp.hpp>
#include <cairn/core/timed_choice.hpp>

#include "algo/reach.hpp"
#include "algo/width_choice.hpp"

namespace cairn::algo {

/// What searches in one graph learn from earlier ones.
struct search_choices {
  /// The width for one worker, or for several, who waste more.
  [[nodiscard]] width_choice& width(const world& w) { return widths[w.workers() > 1 ? 1 : 0]; }

  /// Whether one worker searches, or several, and then by atomic instructions or in tables of their
  /// own. What is faster depends on the graph, and on how long a cache line takes from one core to
  /// another.
  [[nodiscard]] timed_choice& ways(sssp_method by, bool has_layout) {
    return ways_by_kind[2 * static_cast<std::size_t>(by) + (has_layout ? 1 : 0)];
  }

  bool needs_64_bits = false;  // a distance did not fit 32 bits
  std::array<width_choice, 2> widths;
  std::array<timed_choice, 2 * enum_names<sssp_method>.size()> ways_by_kind;
};

/// Reports a search on one rank that relaxed each edge of each reached vertex at least once, except
/// those of dead ends.
///
/// Work      O(n) if the report may change the factor
template <class Id, class Distance>
void learn_width(world& w, width_choice& widths, const graph::csr<Id>& out, std::uint64_t source,
                 const dead_ends* ends, const sssp_result<Distance>& found) {
  if (!widths.learns_from(found.relaxations)) return;
  const auto useful = count_reach(w, out, source, ends, found.distance).relaxed_edges;
  widths.report(found.relaxations, found.relaxations - std::min(useful, found.relaxations));
}

}  // namespace cairn::algo
