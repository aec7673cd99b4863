// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

#include <cairn/algo/sssp.hpp>

#include "algo/reach.hpp"
#include "algo/width_choice.hpp"

namespace cairn::algo {

struct width_choices {
  /// The choice for one worker, or for several, who waste more.
  [[nodiscard]] width_choice& of(const world& w) { return by_sharing[w.workers() > 1 ? 1 : 0]; }

  std::array<width_choice, 2> by_sharing;
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
