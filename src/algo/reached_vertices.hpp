// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cairn/traverse/ordered_work.hpp>

#include "algo/dead_ends.hpp"

namespace cairn::algo {

/// Adds the vertices that a search reaches to its queues, except dead ends. Held by value, so that
/// loops keep it in registers.
template <class Entry>
struct reached_vertices {
  traverse::ordered_work<Entry>& work;
  dead_ends::view ends;

  [[gnu::always_inline]] void add(worker_t k, const Entry& e) const {
    if (!ends[e.vertex]) work.add(k, e);
  }
};

}  // namespace cairn::algo
