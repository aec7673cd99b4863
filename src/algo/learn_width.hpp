// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <cairn/algo/sssp.hpp>
#include <cairn/task/per_worker.hpp>
#include <cairn/traverse/own.hpp>

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
void learn_width(width_choice& widths, world& w, const graph::csr<Id>& out,
                 const sssp_result<Distance>& found) {
  if (!widths.learns_from(found.relaxations)) return;
  task::per_worker<std::uint64_t> edges(w.workers());
  traverse::for_own_ranges(w, out, [&](worker_t k, std::uint64_t v, std::uint64_t last) {
    std::uint64_t sum = 0;
    for (; v < last; ++v) {
      if (found.distance.load(v) != unreached<Distance>) sum += out.degree(static_cast<Id>(v));
    }
    edges[k] += sum;
  });
  std::uint64_t useful = 0;
  for (const auto& k : edges) useful += k.value;
  widths.report(found.relaxations, found.relaxations - std::min(useful, found.relaxations));
}

}  // namespace cairn::algo
