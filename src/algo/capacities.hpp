// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <cairn/base/error.hpp>
#include <cairn/core/world.hpp>
#include <cairn/graph/dist_csr.hpp>

namespace cairn::algo {

/// Throws    input_error that names the first edge with a negative weight, on every rank
/// Collective.
template <class Id>
void expect_capacities(world& w, const graph::dist_csr<Id>& g) {
  struct arc {
    Id from = no_vertex<Id>, to = no_vertex<Id>;
    std::int32_t weight = 0;
  };
  const auto& out = g.out();
  arc mine;
  for (auto v = out.first(); v < out.last() && mine.weight == 0; ++v) {
    const auto weights = out.template weights_of<std::int32_t>(v);
    const auto bad = std::find_if(weights.begin(), weights.end(), [](auto c) { return c < 0; });
    if (bad == weights.end()) continue;
    const auto at = static_cast<std::size_t>(bad - weights.begin());
    mine = {static_cast<Id>(v), out.neighbors(v)[at], *bad};
  }
  const auto id = [&](Id v) { return g.labels().text_of(v); };
  for (const auto& a : w.all_gather(mine)) {
    if (a.weight == 0) continue;
    throw input_error("the edge from " + id(a.from) + " to " + id(a.to) + " has weight " +
                      std::to_string(a.weight) + ", expected a capacity of at least 0");
  }
}

}  // namespace cairn::algo
