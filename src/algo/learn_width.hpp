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
  /// That for searches by as many workers; shared searches waste more.
  [[nodiscard]] width_choice& of(const world& w) { return by_sharing[w.workers() > 1 ? 1 : 0]; }

  std::array<width_choice, 2> by_sharing;
};

/// Reports a search on one rank that relaxed each edge of each reached vertex at least once.
///
/// Work      O(n) until the width is kept
template <class Id, class Distance>
void learn_width(width_choice& widths, world& w, const graph::csr<Id>& out,
                 const sssp_result<Distance>& found) {
  if (!widths.learns()) return;
  task::per_worker<std::uint64_t> edges(w.workers());
  traverse::for_each_own(w, out, [&](worker_t k, Id v) {
    if (found.distance.load(v) != unreached<Distance>) edges[k] += out.degree(v);
  });
  std::uint64_t useful = 0;
  for (const auto& k : edges) useful += k.value;
  widths.took(found.relaxations, found.relaxations - std::min(useful, found.relaxations));
}

}  // namespace cairn::algo
